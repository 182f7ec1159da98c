// SPDX-License-Identifier: Apache-2.0
// Random programs whose tensors go through the tensor memory.
#pragma once

#include "host/device/commands.hpp"
#include "host/device/vector_path.hpp"
#include "tests/commands.hpp"
#include "tests/system/random_depthwise.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/random_windows.hpp"

namespace gemm64::system_test {

/// Moves loads and STOREs of a program that another generator made to the tensor memory. The words
/// that are loaded are written first, by a product of the program's own; each tile that is stored
/// is read in the end, and goes to memory.
class TensorMemoryUse {
 public:
  TensorMemoryUse(std::mt19937& random, const Geometry& geometry)
      : random_(random),
        geometry_(geometry),
        next_(kReadWords),
        in_memory_(kResults + (std::uint64_t{3} << 19)) {}

  std::vector<Command> through(std::vector<Command> program) {
    std::vector<Command> all = fill();
    program.pop_back();  // FINISH
    for (Command& command : program) {
      if (is_store(command)) {
        move_store(command);
      } else if (command.opcode == Opcode::kLoadActivations ||
                 command.opcode == Opcode::kLoadOperands) {
        move_load(command);
      }
    }
    all.insert(all.end(), program.begin(), program.end());
    for (const StoreCommand& store : stored_) show(store, all);
    all.push_back(finish());
    return all;
  }

 private:
  static constexpr std::uint64_t kReadWords = 1024;
  static constexpr std::uint32_t kFillRows = 64, kFillTiles = 4;

  std::uint64_t address(std::uint64_t word) const {
    return geometry_.tensor_base() + word * geometry_.n;
  }

  static Command fence() {
    Command fence;
    fence.opcode = Opcode::kFence;
    return fence;
  }

  /// Blocks of one tile each: their weights, the MATMUL, and before both the LOAD that is given.
  void multiply(const LoadActivationsCommand& load, std::vector<Command>& program) const {
    LoadWeightsCommand weights;
    weights.count = load.count * load.blocks * geometry_.n;
    weights.passes = 1;
    weights.address = kOperands;
    MatmulCommand matmul;
    matmul.rows = load.rows;
    matmul.count = load.count;
    matmul.passes = 1;
    matmul.blocks = load.blocks;
    program.insert(program.end(), {weights, load, matmul});
  }

  std::vector<Command> fill() const {
    std::vector<Command> program;
    LoadActivationsCommand load;
    load.rows = load.stride = kFillRows;
    load.count = kFillTiles;
    load.passes = load.blocks = 1;
    load.address = kOperands;
    multiply(load, program);
    StoreCommand store;
    store.rows = store.stride = kFillRows;
    store.count = kFillTiles;
    store.blocks = 1;
    store.format = ResultFormat::int32().number();
    store.address = address(0);
    program.push_back(store);
    program.push_back(fence());
    return program;
  }

  /// Words from the first to the last of a walk.
  static std::uint64_t extent(const Command& command) {
    return std::uint64_t{command.rows} * command.blocks +
           (std::uint64_t{command.count} - 1) * command.stride;
  }

  void move_load(Command& load) {
    const std::uint64_t words = extent(load);
    if (words > kReadWords || draw(random_, 0, 3) == 0) return;
    load.set_address(address(random_() % (kReadWords - words + 1)));
  }

  void move_store(Command& command) {
    const StoreCommand store(command);
    vector_.begin(store);
    const ResultFormat format = ResultFormat::of(store.format).value();
    const std::uint64_t words = extent(command) * format.beats_per_row();
    const bool whole =
        !vector_.used() || vector_lanes(vector_.store(), geometry_.n) == std::pair{0U, geometry_.n};
    if (!whole || next_ + words > geometry_.tensor_words || draw(random_, 0, 3) == 0) return;
    command.set_address(address(next_));
    next_ += words;
    if (store.rows * format.beats_per_row() > geometry_.accumulator_rows) return;
    stored_.emplace_back(command);
  }

  /// Reads what was stored as activations.
  void show(const StoreCommand& store, std::vector<Command>& program) {
    const auto beats = ResultFormat::of(store.format)->beats_per_row();
    LoadActivationsCommand load;
    load.rows = static_cast<std::uint32_t>(store.rows * beats);
    load.stride = static_cast<std::uint32_t>(store.stride * beats);
    load.count = store.count;
    load.blocks = store.blocks;
    load.passes = 1;
    load.address = store.address;
    const ResultFormat sums = ResultFormat::int32();
    const std::uint64_t rows = std::uint64_t{load.rows} * load.count * load.blocks;
    const std::uint64_t bytes = sums.block_bytes(rows, geometry_.n);
    if (in_memory_ + bytes > kMemoryBytes) return;
    program.push_back(fence());
    multiply(load, program);
    StoreCommand shown;
    shown.rows = load.rows;
    shown.count = load.count;
    shown.blocks = load.blocks;
    shown.stride = load.rows * load.blocks;
    shown.format = sums.number();
    shown.address = in_memory_;
    in_memory_ += bytes;
    program.push_back(shown);
  }

  std::mt19937& random_;
  const Geometry& geometry_;
  std::uint64_t next_;       // word of the tensor memory
  std::uint64_t in_memory_;  // where the next tiles that are read go
  VectorSettings vector_;
  std::vector<StoreCommand> stored_;
};

using MakeProgram = std::vector<Command> (*)(std::mt19937&, const Geometry&, unsigned);

/// The programs of `Make`, through the tensor memory.
template <MakeProgram Make>
std::vector<Command> through_tensor_memory(std::mt19937& random, const Geometry& geometry,
                                           unsigned parts) {
  return legal(TensorMemoryUse(random, geometry).through(Make(random, geometry, parts)), geometry);
}

inline constexpr MakeProgram kThroughTensorMemory[] = {
    through_tensor_memory<random_program>, through_tensor_memory<random_vector_program>,
    through_tensor_memory<random_window_program>, through_tensor_memory<random_depthwise_program>};

}  // namespace gemm64::system_test

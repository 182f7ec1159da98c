// SPDX-License-Identifier: Apache-2.0
// Random programs that no plan makes.
#pragma once

#include "host/device/command_check.hpp"
#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/vector_path.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {

inline constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 20;
inline constexpr std::uint64_t kOperands = 0x1000, kOperandBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kParameters = 0x110000, kParameterBytes = 0x60000;
inline constexpr std::uint64_t kSnapshots = std::uint64_t{3} << 19;
inline constexpr std::uint64_t kResults = std::uint64_t{2} << 20;

/// Gives the commands of one kind in `program` the order that they had before.
inline void keep_order(const std::vector<Command>& before, Opcode opcode,
                       std::vector<Command>& program) {
  auto next = before.begin();
  for (Command& command : program) {
    if (command.opcode != opcode) continue;
    next = std::find_if(next, before.end(), [&](const Command& c) { return c.opcode == opcode; });
    command = *next++;
  }
}

/// Makes random programs whose streams balance. Loads come in pieces, from any aligned address, in
/// any order that the engines' queues can hold. FENCEs follow the commands of a MATMUL and
/// among them, with and without a snapshot.
class ProgramMaker {
 public:
  /// `vectors`: all STOREs pass the element-wise unit.
  ProgramMaker(std::mt19937& random, const Geometry& geometry, bool vectors = false)
      : random_(random), geometry_(geometry), vectors_(vectors) {}

  std::vector<Command> program(unsigned matmuls) {
    return joined(matmuls, 2, [this] { return matmul(); });
  }

 protected:
  /// `parts` parts, each before at most `most` FENCEs, and FINISH.
  template <class Part>
  std::vector<Command> joined(unsigned parts, unsigned most, const Part& part) {
    std::vector<Command> program;
    for (unsigned i = 0; i < parts; ++i) {
      const std::vector<Command> commands = part();
      program.insert(program.end(), commands.begin(), commands.end());
      for (unsigned fences = draw(random_, 0, most); fences > 0; --fences) {
        program.push_back(fence(0, true));
      }
    }
    program.push_back(finish());
    return program;
  }

  std::uint64_t operand_address(std::uint64_t words) {
    const std::uint64_t places = (kOperandBytes - words * geometry_.n) / geometry_.n;
    return kOperands + random_() % places * geometry_.n;
  }

  /// Which of `blocks` blocks retain their weights for the next one, each of `tiles` tiles. A burst
  /// may bring words after these, so they and a burst fit the buffer.
  std::vector<bool> random_retained(std::uint64_t tiles, std::size_t blocks) {
    std::vector<bool> retains(blocks, false);
    const std::uint64_t words = tiles * geometry_.n + geometry_.weight_burst_beats();
    if (words > std::uint64_t{geometry_.weight_tiles} * geometry_.n) return retains;
    for (std::size_t i = 0; i + 1 < blocks; ++i) retains[i] = draw(random_, 0, 1) != 0;
    return retains;
  }

  /// One LOAD, or two, that bring `words` words.
  void add_loads(std::vector<Command>& part, Opcode opcode, std::uint64_t words) {
    const std::uint64_t first = draw(random_, 0, 1) != 0 ? random_() % words : 0;
    std::uint64_t before = 0;
    for (const std::uint64_t piece : {first, words - first}) {
      if (piece == 0) continue;
      Command load;
      load.opcode = opcode;
      load.count = static_cast<std::uint32_t>(piece);
      load.passes = 1;
      switch (opcode) {
        case Opcode::kLoadActivations:
        case Opcode::kLoadOperands:
          cut_into_tiles(load);
          break;
        case Opcode::kLoadParameters:
          place_sets(load, before);
          break;
        default:
          divide(load.count, load.passes);
          load.set_address(operand_address(load.count));
      }
      before += piece;
      part.push_back(load);
    }
  }

  /// The same words several times, where the number allows it.
  void divide(std::uint32_t& count, std::uint32_t& factor) {
    const std::uint32_t by = draw(random_, 2, 4);
    if (count % by != 0) return;
    count /= by;
    factor = by;
  }

  /// COUNT words as tiles of rows, that touch, overlap or lie apart.
  void cut_into_tiles(Command& load) {
    load.blocks = 1;
    divide(load.count, load.passes);
    divide(load.count, load.blocks);
    load.rows = draw(random_, 1, std::min(load.count, geometry_.accumulator_rows));
    while (load.count % load.rows != 0) --load.rows;
    load.count /= load.rows;
    load.stride = load.rows;
    if (draw(random_, 0, 2) != 0) load.stride = draw(random_, 0, 2 * load.rows + 9);
    const auto extent = [&load] {
      return std::uint64_t{load.count} * load.stride + std::uint64_t{load.rows} * load.blocks;
    };
    if (extent() * geometry_.n > kOperandBytes / 2) load.stride = load.rows;
    load.set_address(operand_address(extent()));
  }

  /// The words of sets in the region of parameters, after `before` others: biases come as biases.
  void place_sets(Command& load, std::uint64_t before) {
    if (before % kParameterSetWords == 0 && load.count % (2 * kParameterSetWords) == 0) {
      load.count /= 2;
      load.passes = 2;
    }
    const std::uint64_t sets = kParameterBytes / geometry_.n / kParameterSetWords;
    const std::uint64_t needed = load.count / kParameterSetWords + 2;
    const std::uint64_t set = random_() % (sets - needed);
    load.set_address(kParameters +
                     (set * kParameterSetWords + before % kParameterSetWords) * geometry_.n);
  }

  std::vector<Command> matmul() {
    std::vector<Command> part;
    Command matmul;
    matmul.opcode = Opcode::kMatmul;
    matmul.flags = draw(random_, 0, 3);
    matmul.rows = draw(random_, 0, 3) == 0 ? draw(random_, 1, geometry_.accumulator_rows)
                                           : draw(random_, 1, 2 * geometry_.n + 1);
    matmul.count = draw(random_, 1, 5);
    matmul.passes = draw(random_, 1, 4);
    matmul.blocks = draw(random_, 1, 3);
    // A block that is to be kept must fit, with the burst that completes it.
    if (matmul.rows * matmul.count + geometry_.burst_beats > geometry_.scratchpad_words) {
      matmul.flags &= ~flag::kRetain;
    }
    const std::uint64_t block_tiles = std::uint64_t{matmul.count} * matmul.passes;
    const std::uint64_t tiles = block_tiles * matmul.blocks;
    const bool retains_weights = random_retained(block_tiles, matmul.blocks)[0];
    part.push_back(matmul);
    if (retains_weights) part.back().flags |= flag::kRetainWeights;

    const bool retain = (matmul.flags & flag::kRetain) != 0;
    const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
    add_loads(part, Opcode::kLoadWeights, (retains_weights ? block_tiles : tiles) * geometry_.n);
    add_loads(part, Opcode::kLoadActivations,
              std::uint64_t{matmul.rows} * (retain ? tiles / matmul.passes : tiles));

    const std::uint64_t blocks = accumulate ? tiles / matmul.count : tiles;
    const std::uint64_t first = draw(random_, 0, 1) != 0 ? random_() % blocks : 0;
    std::uint64_t sets = 0, operands = 0;
    for (const std::uint64_t piece : {first, blocks - first}) {
      if (piece == 0) continue;
      part.push_back(store(matmul.rows, piece));
      if (ResultFormat::of(part.back().format)->takes_parameters()) sets += piece;
      operands += operands_of(StoreCommand(part.back()));
    }
    if (sets != 0) add_loads(part, Opcode::kLoadParameters, sets * kParameterSetWords);
    if (operands != 0) add_loads(part, Opcode::kLoadOperands, operands);
    const std::vector<Command> before = part;
    std::shuffle(part.begin(), part.end(), random_);
    keep_order(before, Opcode::kLoadParameters, part);
    keep_order(before, Opcode::kStore, part);
    if (draw(random_, 0, 1) != 0) add_fence(part);
    return part;
  }

  /// A STORE of that many tiles, in any format, that touch, overlap or lie apart.
  StoreCommand store(std::uint32_t rows, std::uint64_t tiles) {
    StoreCommand store;
    store.rows = rows;
    store.count = static_cast<std::uint32_t>(tiles);
    store.blocks = 1;
    divide(store.count, store.blocks);
    store.stride = store.rows * store.blocks;
    if (draw(random_, 0, 2) == 0) store.stride = draw(random_, 0, 2 * store.rows + 9);
    if (vectors_ || draw(random_, 0, 1) != 0) {
      const Output output = random_output(random_);
      const auto byte = [](int value) { return static_cast<std::uint32_t>(value) & 0xff; };
      store.format = output.format.number();
      store.zero = byte(output.zero);
      store.low = byte(output.low);
      store.high = byte(output.high);
      if (vectors_ || draw(random_, 0, 1) != 0) add_vector(store);
    }
    store.address = results_;
    const std::uint64_t extent =
        std::uint64_t{store.rows} * store.blocks + std::uint64_t{store.count} * store.stride;
    results_ += ResultFormat::of(store.format)->block_bytes(extent, geometry_.n) +
                std::uint64_t{draw(random_, 0, 9)} * geometry_.n;
    return store;
  }

  /// Words of operands that the next STORE takes.
  std::uint64_t operands_of(const StoreCommand& store) {
    vector_.begin(store);
    return vector_.table_words(geometry_.n) +
           std::uint64_t{store.count} * store.blocks * vector_.tile_words();
  }

  /// Settings of the element-wise unit; with KEEP, which are not read.
  void add_vector(StoreCommand& store) {
    store.flags |= flag::kVector;
    store.keep = any_vector_ ? draw(random_, 0, 1) : 0;
    any_vector_ = true;
    const ResultFormat format = ResultFormat::of(store.format).value();
    const auto bits = [](float value) {
      std::uint32_t word;
      std::memcpy(&word, &value, sizeof word);
      return word;
    };
    const auto number = [&](int first, int end) {
      const float mantissa = 1 + static_cast<float>(random_() % 4096) / 4096;
      return std::ldexp(mantissa, first + static_cast<int>(random_() % (end - first)));
    };
    const unsigned function = draw(random_, 0, 2);
    store.add = function == 1;
    store.multiply = function == 2;
    store.table = draw(random_, 0, 1);
    store.broadcast = draw(random_, 0, 1);
    store.swap = draw(random_, 0, 1);
    store.operand_moved = draw(random_, 0, 1);
    store.result_moved = draw(random_, 0, 1);
    store.result_scale = bits(number(-7, 4));
    store.operand_scale = bits(store.add != 0 ? number(-7, 4) : number(-12, -1));
    store.offset = bits(draw(random_, 0, 3) == 0 ? 0 : number(-6, 9));
    store.result_zero = draw(random_, 0, 255);
    store.operand_zero = draw(random_, 0, 255);
    store.function_min = draw(random_, 0, 255);
    store.function_max = draw(random_, 0, 255);
    if (format.value(store.function_min) > format.value(store.function_max)) {
      std::swap(store.function_min, store.function_max);
    }
    if (draw(random_, 0, 1) == 0) return;
    store.first_lane = draw(random_, 0, geometry_.n - 1);
    store.lanes = draw(random_, 0, geometry_.n - store.first_lane);
  }

  /// A FENCE that leaves `least` STOREs or more.
  Command fence(std::uint32_t least, bool may_take_snapshot) {
    Command fence;
    fence.opcode = Opcode::kFence;
    fence.count = least + draw(random_, 0, 2);
    if (may_take_snapshot && draw(random_, 0, 1) != 0) {
      fence.flags = flag::kSnapshot;
      fence.set_address(snapshots_);
      snapshots_ += (snapshot_beats(geometry_.n) + draw(random_, 0, 9)) * geometry_.n;
    }
    return fence;
  }

  /// Puts one somewhere among the commands of a MATMUL, so that it does not wait for those of them
  /// that come later: a STORE before it stays, and it is no snapshot after one.
  void add_fence(std::vector<Command>& part) {
    const auto place = part.begin() + draw(random_, 0, static_cast<unsigned>(part.size()));
    const auto stores = static_cast<std::uint32_t>(std::count_if(
        part.begin(), place, [](const Command& c) { return c.opcode == Opcode::kStore; }));
    part.insert(place, fence(stores, stores == 0));
  }

  std::mt19937& random_;
  const Geometry& geometry_;

 private:
  std::uint64_t results_ = kResults;
  std::uint64_t snapshots_ = kSnapshots;
  VectorSettings vector_;
  const bool vectors_;
  bool any_vector_ = false;
};

/// Returns the program. Throws std::logic_error if a generator made a command that is not legal.
inline std::vector<Command> legal(std::vector<Command> program, const Geometry& geometry) {
  for (const Command& command : program) {
    if (is_legal(command, geometry)) continue;
    throw std::logic_error("a generator made an illegal command: " + to_string(command));
  }
  return program;
}

/// A program of `matmuls` products that the engines can finish: their commands are mixed as far as
/// the queues can hold.
inline std::vector<Command> random_program(std::mt19937& random, const Geometry& geometry,
                                           unsigned matmuls) {
  return legal(ProgramMaker(random, geometry).program(matmuls), geometry);
}

/// One in which every STORE passes the element-wise unit, with settings of its own or those before.
inline std::vector<Command> random_vector_program(std::mt19937& random, const Geometry& geometry,
                                                  unsigned matmuls) {
  return legal(ProgramMaker(random, geometry, true).program(matmuls + 2), geometry);
}

/// The same in any order that keeps MATMULs and STOREs in theirs: the engines may wait for each
/// other for ever.
inline std::vector<Command> random_order(std::mt19937& random, std::vector<Command> program) {
  const std::vector<Command> before = program;
  std::shuffle(program.begin(), program.end() - 1, random);
  for (const Opcode opcode : {Opcode::kMatmul, Opcode::kStore}) keep_order(before, opcode, program);
  return program;
}

inline std::string list(const std::vector<Command>& program) {
  std::string listing;
  for (const Command& command : program) listing += to_string(command) + "\n";
  return listing;
}

/// A memory of some latency, width and sharing, without random stalls.
inline MemoryTiming random_memory(std::mt19937& random, int n) {
  MemoryTiming memory;
  memory.latency = draw(random, 1, 200);
  if (draw(random, 0, 1) == 0) {
    memory.bytes_per_cycle = draw(random, 1, static_cast<unsigned>(n));
  }
  memory.sharing = static_cast<MemorySharing>(draw(random, 0, 2));
  return memory;
}

/// What is in memory from kOperands on: random operands, and sets of parameters with scales that
/// suit them. `n`: the array's.
inline std::vector<std::uint8_t> operand_memory(std::mt19937& random, std::uint32_t n) {
  std::vector<std::uint8_t> memory(kParameters + kParameterBytes - kOperands);
  for (std::size_t at = 0; at < kOperandBytes; ++at) {
    memory[at] = static_cast<std::uint8_t>(random());
  }
  for (std::size_t at = 0; at < kParameterBytes; at += 4) {
    const auto bits = static_cast<std::uint32_t>(random());
    std::uint32_t value = static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 14);
    if (at / (4 * n) % 2 != 0) {
      const float scale = std::ldexp(1 + static_cast<float>(bits % 1000) / 1000,
                                     -static_cast<int>(draw(random, 3, 16)));
      std::memcpy(&value, &scale, sizeof value);
    }
    std::memcpy(memory.data() + kParameters - kOperands + at, &value, sizeof value);
  }
  return memory;
}

/// All bytes of a memory of kMemoryBytes.
inline std::vector<std::uint8_t> image(Device& device) {
  std::vector<std::uint8_t> bytes(kMemoryBytes);
  device.read_memory(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace gemm64::system_test

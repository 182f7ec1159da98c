// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/cycles/activation_balance.hpp"
#include "host/cycles/program_check.hpp"
#include "host/cycles/shares.hpp"
#include "host/device/commands.hpp"
#include "host/device/depthwise.hpp"
#include "host/device/result_format.hpp"
#include "host/device/vector_path.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64::cycles {
namespace {

using Program = std::vector<Command>;

std::uint64_t tiles(const MatmulCommand& matmul) {
  return product({matmul.count, matmul.passes, matmul.blocks});
}

/// Runs that a command reads or writes, and their words.
std::uint64_t runs_of(const Command& command) {
  const CommandFact& fact = *fact_of(command.opcode);
  return product({value_of(command, fact.runs), value_of(command, fact.passes),
                  value_of(command, fact.blocks)});
}
std::uint64_t words_of(const Command& command) {
  return product({runs_of(command), value_of(command, fact_of(command.opcode)->run)});
}

/// What the MATMULs of a window take, all of it given by the SET_WINDOW before them.
class Layer {
 public:
  void set(const SetWindowCommand& set) { set_ = set; }
  std::uint64_t tiles(const MatmulCommand& matmul) const {
    return product({matmul.count, matmul.passes, taps_of(set_)});
  }
  /// Words of pixels: those of each plane, once.
  std::uint64_t claimed(const MatmulCommand& matmul) const {
    const std::uint64_t groups =
        (std::uint64_t{matmul.passes} + set_.group_passes - 1) / set_.group_passes;
    return product({matmul.count, groups, matmul.new_pixels});
  }

 private:
  SetWindowCommand set_;
};

/// Tiles that leave the weight buffer. What a window retains leaves with those after it.
std::uint64_t released_tiles(const MatmulCommand& matmul, const Layer& layer) {
  const bool retain = (matmul.flags & flag::kRetainWeights) != 0;
  if (is_window(matmul)) return retain ? 0 : layer.tiles(matmul);
  return retain ? product({matmul.count, matmul.passes}) : tiles(matmul);
}

/// Blocks of as many rows each.
struct Blocks {
  Share share;
  std::uint64_t rows;
};

/// The blocks of a plane, as many times as there are planes.
void add_blocks(const DepthwiseCommand& command, std::size_t index, std::vector<Blocks>& given) {
  const std::uint64_t rows = product({image_rows(command), command.passes});
  const std::uint64_t whole = rows / command.rows, rest = rows % command.rows;
  if (rest == 0) {
    given.push_back({{index, product({whole, command.count})}, command.rows});
    return;
  }
  for (std::uint32_t plane = 0; plane < command.count; ++plane) {
    if (whole != 0) given.push_back({{index, whole}, command.rows});
    given.push_back({{index, 1}, rest});
  }
}

/// Those of a window's passes. Rows beyond a bank are blocks of their own.
void add_blocks(const MatmulCommand& matmul, std::size_t index, std::uint64_t bank_rows,
                std::vector<Blocks>& given) {
  if (matmul.rows <= bank_rows) {
    given.push_back({{index, matmul.passes}, matmul.rows});
    return;
  }
  for (std::uint32_t pass = 0; pass < matmul.passes; ++pass) {
    given.push_back({{index, 1}, bank_rows});
    given.push_back({{index, 1}, matmul.rows - bank_rows});
  }
}

/// STOREs take the blocks in the order in which MATMULs give them.
void check_blocks(const Program& program, std::vector<Blocks> given, std::vector<Share> stored) {
  std::size_t g = 0, s = 0;
  while (g < given.size() && s < stored.size()) {
    Share& share = given[g].share;
    if (program[stored[s].command].rows != given[g].rows) {
      refuse(program, stored[s].command,
             fmt::format("the blocks of {} have {} rows", describe(program, share.command),
                         given[g].rows));
    }
    const std::uint64_t blocks = std::min(share.amount, stored[s].amount);
    if ((share.amount -= blocks) == 0) ++g;
    if ((stored[s].amount -= blocks) == 0) ++s;
  }
  if (g < given.size()) {
    refuse(program, given[g].share.command,
           fmt::format("no STORE for {} of its blocks", given[g].share.amount));
  }
  if (s < stored.size()) {
    refuse(program, stored[s].command,
           fmt::format("no MATMUL gives {} of its blocks", stored[s].amount));
  }
}

}  // namespace

void check_balance(const Program& program, const Geometry& geometry, const Command* set_window) {
  std::vector<Share> weights, weights_taken, stored, parameters, parameters_taken, operands,
      operands_taken;
  std::vector<Blocks> given;
  VectorSettings vector;
  ActivationBalance activations;
  Layer layer;
  if (set_window != nullptr) layer.set(SetWindowCommand(*set_window));
  const auto take = [&](const MatmulCommand& matmul, std::size_t i) {
    weights_taken.push_back({i, product({released_tiles(matmul, layer), geometry.n})});
    if (is_window(matmul)) {
      activations.take(matmul, i, layer.claimed(matmul));
      add_blocks(matmul, i, geometry.accumulator_rows, given);
      return;
    }
    const bool retain = (matmul.flags & flag::kRetain) != 0;
    const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
    activations.take(
        matmul, i, product({matmul.rows, matmul.count, matmul.blocks, retain ? 1 : matmul.passes}));
    given.push_back(
        {{i, accumulate ? product({matmul.passes, matmul.blocks}) : tiles(matmul)}, matmul.rows});
  };
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Command& command = program[i];
    if (command.opcode == Opcode::kSetWindow) layer.set(SetWindowCommand(command));
    if (command.opcode == Opcode::kMatmul) take(MatmulCommand(command), i);
    if (command.opcode == Opcode::kDepthwise) {
      const DepthwiseCommand depthwise(command);
      weights_taken.push_back({i, product({depthwise.count, weight_words(depthwise)})});
      activations.take(i, product({image_words(depthwise), depthwise.passes, depthwise.count}));
      add_blocks(depthwise, i, given);
    }
    switch (operand_of(command)) {
      case Operand::kWeights:
        weights.push_back({i, words_of(command)});
        break;
      case Operand::kActivations:
        activations.load(LoadActivationsCommand(command), i);
        break;
      case Operand::kParameters:
        parameters.push_back({i, words_of(command)});
        break;
      case Operand::kOperands:
        operands.push_back({i, words_of(command)});
        break;
      case Operand::kResults:
        stored.push_back({i, runs_of(command)});
        if (ResultFormat::of(command.format).value().takes_parameters()) {
          parameters_taken.push_back({i, product({stored.back().amount, kParameterSetWords})});
        }
        vector.begin(StoreCommand(command));
        if (const std::uint64_t words = vector.table_words(geometry.n)) {
          operands_taken.push_back({i, words});
        }
        if (const std::uint64_t words = vector.tile_words()) {
          operands_taken.push_back({i, product({stored.back().amount, words})});
        }
        break;
      case Operand::kNone:
      case Operand::kCounters:
        break;
    }
  }
  check_words(program, "weights", "MATMULs", weights, weights_taken);
  activations.check(program);
  check_words(program, "parameters", "STOREs", parameters, parameters_taken);
  check_words(program, "operands", "STOREs", operands, operands_taken);
  check_blocks(program, std::move(given), std::move(stored));
}

}  // namespace gemm64::cycles

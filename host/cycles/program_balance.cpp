// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "host/cycles/program_check.hpp"
#include "host/device/result_format.hpp"

namespace gemm64::cycles {
namespace {

using Program = std::vector<Command>;

/// Where the product is larger than any program could run through, some number that is as well.
std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max() >> 16;
  std::uint64_t result = 1;
  for (const std::uint64_t factor : factors) {
    result = factor != 0 && result > kMax / factor ? kMax : result * factor;
  }
  return result;
}

std::uint64_t tiles(const Command& matmul) {
  return product({matmul.count, matmul.passes, matmul.blocks});
}

/// Some amount, and the command that gives or takes it.
struct Share {
  std::size_t command;
  std::uint64_t amount;
};

std::uint64_t sum(const std::vector<Share>& shares) {
  std::uint64_t sum = 0;
  for (const Share& share : shares) sum += share.amount;
  return sum;
}

/// The first command with which more than `available` is wanted.
std::size_t first_beyond(const std::vector<Share>& shares, std::uint64_t available) {
  std::uint64_t wanted = 0;
  for (const Share& share : shares) {
    wanted += share.amount;
    if (wanted > available) return share.command;
  }
  return 0;
}

/// The words that all loads of a kind bring are those that all commands of another take.
void check_words(const Program& program, const char* what, const char* takers,
                 const std::vector<Share>& loaded, const std::vector<Share>& taken) {
  const std::uint64_t brought = sum(loaded), wanted = sum(taken);
  if (brought < wanted) {
    refuse(program, first_beyond(taken, brought),
           fmt::format("the {} up to here take more words of {} than the program loads ({})",
                       takers, what, brought));
  }
  if (brought > wanted) {
    refuse(program, first_beyond(loaded, wanted),
           fmt::format("the program loads more words of {} than its {} take ({})", what, takers,
                       wanted));
  }
}

/// STOREs take the blocks in the order in which MATMULs give them.
void check_blocks(const Program& program, std::vector<Share> given, std::vector<Share> stored) {
  std::size_t g = 0, s = 0;
  while (g < given.size() && s < stored.size()) {
    const Command& matmul = program[given[g].command];
    if (program[stored[s].command].rows != matmul.rows) {
      refuse(program, stored[s].command,
             fmt::format("the blocks of {} have {} rows", describe(program, given[g].command),
                         matmul.rows));
    }
    const std::uint64_t blocks = std::min(given[g].amount, stored[s].amount);
    if ((given[g].amount -= blocks) == 0) ++g;
    if ((stored[s].amount -= blocks) == 0) ++s;
  }
  if (g < given.size()) {
    refuse(program, given[g].command,
           fmt::format("no STORE for {} of its blocks", given[g].amount));
  }
  if (s < stored.size()) {
    refuse(program, stored[s].command,
           fmt::format("no MATMUL gives {} of its blocks", stored[s].amount));
  }
}

}  // namespace

void check_balance(const Program& program, const Geometry& geometry) {
  std::vector<Share> weights, activations, weights_taken, activations_taken, given, stored;
  std::vector<Share> parameters, parameters_taken;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Command& command = program[i];
    switch (command.opcode) {
      case Opcode::kLoadWeights:
        weights.push_back({i, product({command.count, command.passes})});
        break;
      case Opcode::kLoadActivations:
        activations.push_back(
            {i, product({command.rows, command.count, command.passes, command.blocks})});
        break;
      case Opcode::kLoadParameters:
        parameters.push_back({i, product({command.count, command.passes})});
        break;
      case Opcode::kMatmul: {
        const bool retain = (command.flags & flag::kRetain) != 0;
        const bool accumulate = (command.flags & flag::kAccumulate) != 0;
        weights_taken.push_back({i, product({tiles(command), geometry.n})});
        activations_taken.push_back({i, product({command.rows, command.count, command.blocks,
                                                 retain ? 1 : command.passes})});
        given.push_back(
            {i, accumulate ? product({command.passes, command.blocks}) : tiles(command)});
        break;
      }
      case Opcode::kStore:
        stored.push_back({i, product({command.count, command.blocks})});
        if (ResultFormat::of(command)->takes_parameters()) {
          parameters_taken.push_back({i, product({stored.back().amount, kParameterSetWords})});
        }
        break;
      case Opcode::kSetWindow:
      case Opcode::kFence:
      case Opcode::kFinish:
        break;
    }
  }
  check_words(program, "weights", "MATMULs", weights, weights_taken);
  check_words(program, "activations", "MATMULs", activations, activations_taken);
  check_words(program, "parameters", "STOREs", parameters, parameters_taken);
  check_blocks(program, std::move(given), std::move(stored));
}

}  // namespace gemm64::cycles

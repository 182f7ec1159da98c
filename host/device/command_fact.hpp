// SPDX-License-Identifier: Apache-2.0
// What a table can say of commands: which engine takes one, what it reads or writes, and how much.
// The tables are in command_facts.hpp, which is generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"

namespace gemm64 {

/// The contents of a command's address.
enum class Operand { kNone, kWeights, kActivations, kParameters, kOperands, kResults, kCounters };

/// Words of memory that belong to a tile.
enum class Tile { kOne, kN, kRows, kSet };

inline constexpr std::size_t kNoCounter = ~std::size_t{0};

/// What holds for an opcode. Its words: in each of `blocks` blocks, `passes` times, `runs` runs of
/// `run` words, `step` words apart. A null field counts as one; `run` of a snapshot is null.
struct CommandFact {
  Opcode opcode;
  std::optional<Engine> engine;  // none where the dispatch is all
  std::size_t counts;            // the counter of its work; kNoCounter where it has none
  Operand operand;
  bool is_write;
  std::uint32_t with;  // the flag without which the address is not used; 0 where it always is
  CommandMember run, runs, step, passes, blocks;
  bool of_format;  // words are rows of results, in FORMAT
  Tile tile;

  constexpr bool addresses(const Command& command) const {
    return operand != Operand::kNone && (command.flags & with) == with;
  }
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What the tables of commands say of one command.
#pragma once

#include <cstdint>
#include <optional>

#include "host/device/command_facts.hpp"

namespace gemm64 {

/// What holds for the opcode; null where there is no such opcode.
constexpr const CommandFact* fact_of(Opcode opcode) {
  for (const CommandFact& fact : kCommandFacts) {
    if (fact.opcode == opcode) return &fact;
  }
  return nullptr;
}

/// What lies at the command's address; kNone where it has none, or its flags say so.
constexpr Operand operand_of(const Command& command) {
  const CommandFact* const fact = fact_of(command.opcode);
  return fact != nullptr && fact->addresses(command) ? fact->operand : Operand::kNone;
}

constexpr bool has_address(const Command& command) { return operand_of(command) != Operand::kNone; }

/// Does it read memory, or write it?
constexpr bool reads(const Command& command) {
  return has_address(command) && !fact_of(command.opcode)->is_write;
}
constexpr bool writes(const Command& command) {
  return has_address(command) && fact_of(command.opcode)->is_write;
}

/// Does it write results?
constexpr bool is_store(const Command& command) { return operand_of(command) == Operand::kResults; }

/// The engine that gets the command; none where its dispatch is all.
constexpr std::optional<Engine> engine_of(const Command& command) {
  const CommandFact* const fact = fact_of(command.opcode);
  if (fact == nullptr || (command.flags & fact->with) != fact->with) return std::nullopt;
  return fact->engine;
}

/// A field's value; `otherwise` where there is no field.
constexpr std::uint64_t value_of(const Command& command, CommandMember field,
                                 std::uint64_t otherwise = 1) {
  return field == nullptr ? otherwise : command.*field;
}

/// The bound, at least as far as its flags tell it to hold, that the command breaks first; null
/// where it breaks none. `flagged`: of those bounds that need a flag to be set, else of the others.
constexpr const Bound* broken_bound(const Command& command, const Geometry& geometry,
                                    bool flagged) {
  const CommandFact* const fact = fact_of(command.opcode);
  if (fact == nullptr) return nullptr;
  for (std::size_t i = 0; i < fact->bounds; ++i) {
    const Bound& bound = kBounds[fact->first_bound + i];
    if ((bound.with != 0) != flagged || (command.flags & bound.with) != bound.with ||
        (command.flags & bound.without) != 0) {
      continue;
    }
    const std::uint32_t bits = command.*bound.field;
    const std::int64_t value =
        bound.is_signed ? std::int64_t{static_cast<std::int32_t>(bits)} : std::int64_t{bits};
    std::int64_t limit = bound.number;
    if (bound.limit_field != nullptr) limit = command.*bound.limit_field;
    if (bound.limit_size != nullptr) limit = geometry.*bound.limit_size;
    const bool holds = bound.relation == Relation::kAtLeast  ? value >= limit
                       : bound.relation == Relation::kAtMost ? value <= limit
                                                             : value < limit;
    if (!holds) return &bound;
  }
  return nullptr;
}

}  // namespace gemm64

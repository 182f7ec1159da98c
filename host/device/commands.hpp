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

/// The contents of the command's address; kNone where it has none, or its flags say so.
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

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The rules of commands' fields in rtl/gemm64.json, as functions: the legal region of each command,
// as far as it does not depend on the commands before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"

namespace gemm64 {

/// Whether a rule applies to a command, and the values of its sides.
struct RuleSides {
  bool applies;
  std::int64_t left, right;
};

/// What a field, or an expression of fields, must be; else the command is refused.
struct CommandRule {
  Opcode opcode;
  bool at_once;                   // the RTL refuses it in the cycle of its dispatch, else after it
  const char* left;               // "FIRST_LANE + LANES"
  const char* when;               // "with VECTOR "; empty if it always applies
  const char* limit;              // "at most N"
  bool names_limit;               // the limit has a value of its own
  bool is_float;                  // values are the bits of float32 numbers
  std::uint32_t Command::*field;  // the first that it names; null if that is a flag
  bool (*holds)(std::int64_t left, std::int64_t right);
  RuleSides (*sides)(const Command&, const Geometry&);
};

/// All rules, those of an opcode together.
const std::vector<CommandRule>& command_rules();

/// Returns the first rule that the command breaks, of those that `at_once` selects; null if there
/// is none.
const CommandRule* broken_rule(const Command& command, const Geometry& geometry,
                               std::optional<bool> at_once = std::nullopt);

/// Returns the reason in words, "ROWS is 129; it must be at most ACCUMULATOR_ROWS, 128", of
/// broken_rule(); empty if there is none.
std::string rule_refusal(const Command& command, const Geometry& geometry,
                         std::optional<bool> at_once = std::nullopt);

}  // namespace gemm64

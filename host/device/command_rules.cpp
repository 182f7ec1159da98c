// SPDX-License-Identifier: Apache-2.0
#include "host/device/command_rules.hpp"

#include <fmt/format.h>

#include "host/util/float_bits.hpp"

namespace gemm64 {

const CommandRule* broken_rule(const Command& command, const Geometry& geometry,
                               std::optional<bool> at_once) {
  for (const CommandRule& rule : command_rules()) {
    if (rule.opcode != command.opcode || (at_once && rule.at_once != *at_once)) continue;
    const RuleSides sides = rule.sides(command, geometry);
    if (sides.applies && !rule.holds(sides.left, sides.right)) return &rule;
  }
  return nullptr;
}

std::string rule_refusal(const Command& command, const Geometry& geometry,
                         std::optional<bool> at_once) {
  const CommandRule* const rule = broken_rule(command, geometry, at_once);
  if (rule == nullptr) return "";
  const auto [applies, value, right] = rule->sides(command, geometry);
  std::string is = fmt::format("{}", value);
  if (rule->is_float) is = fmt::format("{}", from_bits(static_cast<std::uint32_t>(value)));
  const std::string limit = rule->names_limit ? fmt::format(", {}", right) : "";
  return fmt::format("{} is {}; {}it must be {}{}", rule->left, is, rule->when, rule->limit, limit);
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_check.hpp"

#include <fmt/format.h>

#include "host/cycles/program_balance.hpp"
#include "host/device/command_check.hpp"
#include "host/util/error.hpp"

namespace gemm64::cycles {
namespace {

using Program = std::vector<Command>;

/// `set_window`: the last one before the program; null where there was none.
void check_commands(const Program& program, const Geometry& geometry, const Command* set_window) {
  if (program.empty()) throw UsageError("the program has no command; FINISH must be the last");
  CommandOrder order;
  if (set_window != nullptr) order.add(*set_window);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const bool last = i + 1 == program.size();
    const bool finish = program[i].opcode == Opcode::kFinish;
    if (finish && !last) refuse(program, i, "commands follow; FINISH must be the last");
    const Refusal refusal = check_command(program[i], order, geometry);
    if (refusal.code != ErrorCode::kNone) refuse(program, i, refusal.why);
    if (!finish && last) refuse(program, i, "it is the last; FINISH must follow");
    order.add(program[i]);
  }
}

}  // namespace

std::string describe(const Program& program, std::size_t index) {
  return fmt::format("command {} ({})", index, to_string(program[index]));
}

void refuse(const Program& program, std::size_t index, const std::string& why) {
  throw UsageError(fmt::format("{}: {}", describe(program, index), why));
}

void check_program(const Program& program, const Geometry& geometry, const Command* set_window) {
  check_commands(program, geometry, set_window);
  check_balance(program, geometry, set_window);
}

}  // namespace gemm64::cycles

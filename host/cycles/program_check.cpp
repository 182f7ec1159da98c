// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_check.hpp"

#include <fmt/format.h>

#include "host/cycles/bursts.hpp"
#include "host/cycles/program_balance.hpp"
#include "host/cycles/window_check.hpp"
#include "host/device/commands.hpp"
#include "host/device/result_format.hpp"
#include "host/device/vector_path.hpp"
#include "host/device/window_order.hpp"
#include "host/device/window_taps.hpp"
#include "host/error.hpp"

namespace gemm64::cycles {
namespace {

using Program = std::vector<Command>;

/// Does a walk of words from `address` on end at `end` at the latest?
bool fits(const WordWalk& walk, std::uint64_t end, std::uint32_t array) {
  const std::uint64_t room = (end - walk.address) / array;
  // The last word is that of the last run in the last block.
  const std::uint64_t blocks = walk.block_step * (walk.blocks - 1);
  if (walk.words > room || blocks > room - walk.words) return false;
  const std::uint64_t left = room - walk.words - blocks;
  return walk.run_step == 0 || walk.runs - 1 <= left / walk.run_step;
}

void check_address(const Program& program, std::size_t index, const Geometry& geometry) {
  const std::uint64_t address = program[index].address();
  const std::uint64_t end = std::uint64_t{1} << geometry.address_width;
  if (address % geometry.n != 0) {
    refuse(program, index, fmt::format("the address must be a multiple of {}", geometry.n));
  }
  if (address >= end) {
    refuse(program, index,
           fmt::format("the address is wider than {} bits", geometry.address_width));
  }
  if (!fits(walk_of(program[index], geometry.n), end, geometry.n)) {
    refuse(program, index,
           fmt::format("its words pass the end of an address space of {} bits",
                       geometry.address_width));
  }
}

void check_format(const Program& program, std::size_t index) {
  const Command& store = program[index];
  const auto format = ResultFormat::of(store);
  if (!format) {
    refuse(program, index, fmt::format("no result format has the number {}", store.format));
  }
  const int low = format->value(store.low), high = format->value(store.high);
  if (!format->takes_parameters() || low <= high) return;
  refuse(program, index, fmt::format("LOW is {}, above HIGH, {}", low, high));
}

std::string broken_words(const Bound& bound, const Command& command, const Geometry& geometry) {
  const std::uint32_t bits = command.*bound.field;
  const std::int64_t value =
      bound.is_signed ? std::int64_t{static_cast<std::int32_t>(bits)} : std::int64_t{bits};
  const char* const relation = bound.relation == Relation::kAtLeast  ? "at least"
                               : bound.relation == Relation::kAtMost ? "at most"
                                                                     : "below";
  std::string words = fmt::format("{} is {}; ", bound.name, value);
  if (bound.with == flag::kWindow) words += "with WINDOW ";
  if (bound.limit_name == nullptr) {
    return words + fmt::format("it must be {} {}", relation, bound.number);
  }
  const std::uint32_t limit =
      bound.limit_field != nullptr ? command.*bound.limit_field : geometry.*bound.limit_size;
  return words + fmt::format("it must be {} {}, {}", relation, bound.limit_name, limit);
}

void check_bounds(const Program& program, std::size_t index, const Geometry& geometry,
                  bool flagged) {
  const Bound* const broken = broken_bound(program[index], geometry, flagged);
  if (broken != nullptr) refuse(program, index, broken_words(*broken, program[index], geometry));
}

void check_operands(const Program& program, std::size_t index, const Geometry& geometry) {
  const Command& command = program[index];
  check_bounds(program, index, geometry, false);
  if (is_store(command)) check_format(program, index);
  if (is_vector(command)) {
    if (const auto why = vector_refusal(command, geometry.n)) refuse(program, index, *why);
  }
  check_bounds(program, index, geometry, true);
  if (is_window(command)) check_window(program, index, geometry);
  if (has_address(command)) check_address(program, index, geometry);
}

/// Commands of windows after each other, and after `set_window`.
void check_order(const Program& program, const Geometry& geometry, const Command* set_window) {
  WindowOrder order;
  if (set_window != nullptr) order.add(*set_window);
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!is_window(program[i])) continue;
    if (const char* why = order.refusal(program[i], geometry)) refuse(program, i, why);
    order.add(program[i]);
  }
}

/// KEEP needs settings of a STORE before it in the program.
void check_settings(const Program& program) {
  bool set = false;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!is_vector(program[i])) continue;
    if (program[i].keep != 0 && !set) {
      refuse(program, i, "KEEP needs a STORE with VECTOR and without KEEP before it");
    }
    set = true;
  }
}

void check_commands(const Program& program, const Geometry& geometry) {
  if (program.empty()) throw UsageError("the program has no command; FINISH must be the last");
  for (std::size_t i = 0; i < program.size(); ++i) {
    const bool last = i + 1 == program.size();
    const bool finish = program[i].opcode == Opcode::kFinish;
    if (fact_of(program[i].opcode) == nullptr) refuse(program, i, "no such command");
    if (finish && !last) refuse(program, i, "commands follow; FINISH must be the last");
    check_operands(program, i, geometry);
    if (!finish && last) refuse(program, i, "it is the last; FINISH must follow");
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
  check_commands(program, geometry);
  check_order(program, geometry, set_window);
  check_settings(program);
  check_balance(program, geometry, set_window);
}

}  // namespace gemm64::cycles

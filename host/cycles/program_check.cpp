// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_check.hpp"

#include <fmt/format.h>

#include "host/cycles/bursts.hpp"
#include "host/cycles/program_balance.hpp"
#include "host/cycles/window_check.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
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

void check_bounds(const Program& program, std::size_t index) {
  const Command& store = program[index];
  const ResultFormat format = ResultFormat::of(store).value();
  const int low = format.value(store.low), high = format.value(store.high);
  if (!format.takes_parameters() || low <= high) return;
  refuse(program, index, fmt::format("LOW is {}, above HIGH, {}", low, high));
}

void check_operands(const Program& program, std::size_t index, const Geometry& geometry) {
  const Command& command = program[index];
  const bool activations = command.opcode == Opcode::kLoadActivations;
  const bool load = activations || command.opcode == Opcode::kLoadWeights ||
                    command.opcode == Opcode::kLoadParameters;
  const bool matmul = command.opcode == Opcode::kMatmul;
  const bool store = command.opcode == Opcode::kStore;
  const auto at_least_1 = [&](bool used, const char* field, std::uint32_t value) {
    if (used && value == 0)
      refuse(program, index, fmt::format("{} is 0; it must be at least 1", field));
  };
  if (command.opcode == Opcode::kSetWindow) return check_window(program, index, geometry);
  at_least_1(command.opcode != Opcode::kFence, "COUNT", command.count);
  at_least_1(load || matmul, "PASSES", command.passes);
  const bool rows = matmul || store || activations;
  at_least_1(rows, "BLOCKS", command.blocks);
  at_least_1(rows, "ROWS", command.rows);
  const bool window = of_window(command);
  if (rows && !(activations && window) && command.rows > geometry.accumulator_rows) {
    refuse(program, index,
           fmt::format("ROWS is {}; an accumulator bank has {}", command.rows,
                       geometry.accumulator_rows));
  }
  if (store && !ResultFormat::of(command)) {
    refuse(program, index, fmt::format("no result format has the number {}", command.format));
  }
  if (store) check_bounds(program, index);
  if (window) check_window(program, index, geometry);
  if (load || store || is_snapshot(command)) check_address(program, index, geometry);
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

void check_commands(const Program& program, const Geometry& geometry) {
  if (program.empty()) throw UsageError("the program has no command; FINISH must be the last");
  for (std::size_t i = 0; i < program.size(); ++i) {
    const bool last = i + 1 == program.size();
    switch (program[i].opcode) {
      case Opcode::kFinish:
        if (!last) refuse(program, i, "commands follow; FINISH must be the last");
        break;
      case Opcode::kLoadWeights:
      case Opcode::kLoadActivations:
      case Opcode::kLoadParameters:
      case Opcode::kMatmul:
      case Opcode::kStore:
      case Opcode::kFence:
      case Opcode::kSetWindow:
        check_operands(program, i, geometry);
        if (last) refuse(program, i, "it is the last; FINISH must follow");
        break;
      default:
        refuse(program, i, "no such command");
    }
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
  check_balance(program, geometry, set_window);
}

}  // namespace gemm64::cycles

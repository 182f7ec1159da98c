// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_check.hpp"

#include <fmt/format.h>

#include "host/cycles/program_balance.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/error.hpp"

namespace gemm64::cycles {
namespace {

using Program = std::vector<Command>;

/// Words in memory, one after the other, that a command reads or writes: so many, so many times.
struct Extent {
  std::uint64_t words, times;
};

Extent extent_of(const Command& command, std::uint32_t array) {
  switch (command.opcode) {
    case Opcode::kLoadActivations:
      return {command.count, command.blocks};
    case Opcode::kStore:
      return {command.count,
              std::uint64_t{command.rows} * ResultFormat::of(command)->beats_per_row()};
    case Opcode::kFence:
      return {snapshot_beats(array), 1};
    default:
      return {command.count, 1};
  }
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
  const Extent extent = extent_of(program[index], geometry.n);
  if (extent.words > (end - address) / geometry.n / extent.times) {
    refuse(program, index,
           fmt::format("its words pass the end of an address space of {} bits",
                       geometry.address_width));
  }
}

void check_operands(const Program& program, std::size_t index, const Geometry& geometry) {
  const Command& command = program[index];
  const bool load =
      command.opcode == Opcode::kLoadWeights || command.opcode == Opcode::kLoadActivations;
  const bool matmul = command.opcode == Opcode::kMatmul;
  const bool store = command.opcode == Opcode::kStore;
  const auto at_least_1 = [&](bool used, const char* field, std::uint32_t value) {
    if (used && value == 0)
      refuse(program, index, fmt::format("{} is 0; it must be at least 1", field));
  };
  at_least_1(command.opcode != Opcode::kFence, "COUNT", command.count);
  at_least_1(load || matmul, "PASSES", command.passes);
  at_least_1(matmul || command.opcode == Opcode::kLoadActivations, "BLOCKS", command.blocks);
  at_least_1(matmul || store, "ROWS", command.rows);
  if ((matmul || store) && command.rows > geometry.accumulator_rows) {
    refuse(program, index,
           fmt::format("ROWS is {}; an accumulator bank has {}", command.rows,
                       geometry.accumulator_rows));
  }
  if (store && !ResultFormat::of(command)) {
    refuse(program, index, fmt::format("no result format has the number {}", command.format));
  }
  if (load || store || is_snapshot(command)) check_address(program, index, geometry);
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
      case Opcode::kMatmul:
      case Opcode::kStore:
      case Opcode::kFence:
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

void check_program(const Program& program, const Geometry& geometry) {
  check_commands(program, geometry);
  check_balance(program, geometry);
}

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
#include "host/device/command_check.hpp"

#include <cstdint>

#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64 {
namespace {

/// Which operands a command has.
struct Uses {
  bool known = true;
  bool count = true, rows = false, passes = false, blocks = false;
  bool address = true;
  bool strided = false;     // its words are tiles, STRIDE rows apart
  std::uint64_t bytes = 1;  // of memory for each of N values
};

Uses uses(const Command& command) {
  Uses uses;
  switch (command.opcode) {
    case Opcode::kLoadWeights:
    case Opcode::kLoadParameters:
      uses.passes = true;
      break;
    case Opcode::kLoadActivations:
      uses.rows = uses.passes = uses.blocks = uses.strided = true;
      break;
    case Opcode::kMatmul:
      uses.rows = uses.passes = uses.blocks = true;
      uses.address = false;
      break;
    case Opcode::kStore:
      uses.rows = uses.blocks = uses.strided = true;
      if (const auto format = ResultFormat::of(command)) uses.bytes = format->bytes();
      break;
    case Opcode::kFence:
      uses.count = false;
      uses.address = (command.flags & flag::kSnapshot) != 0;
      break;
    case Opcode::kFinish:
    case Opcode::kSetWindow:
      uses.count = uses.address = false;
      break;
    default:
      uses.known = false;
  }
  return uses;
}

bool bad_format(const Command& store) {
  const auto format = ResultFormat::of(store);
  if (!format) return true;
  return format->takes_parameters() && format->value(store.low) > format->value(store.high);
}

bool bad_operand(const Command& command, const Uses& uses, const Geometry& geometry) {
  // Pixels are as many as their planes hold.
  const bool pixels = command.opcode == Opcode::kLoadActivations && is_window(command);
  if (uses.count && command.count == 0) return true;
  if (uses.passes && command.passes == 0) return true;
  if (uses.blocks && command.blocks == 0) return true;
  if (uses.rows && command.rows == 0) return true;
  if (uses.rows && !pixels && command.rows > geometry.accumulator_rows) return true;
  return command.opcode == Opcode::kStore && bad_format(command);
}

bool bad_window(const Command& command, const Geometry& geometry) {
  const std::uint64_t words = geometry.scratchpad_words, capacity = command.capacity;
  switch (command.opcode) {
    case Opcode::kSetWindow:
      return capacity == 0 || capacity > words || command.kernel_height == 0 ||
             command.kernel_width == 0 || command.group_passes == 0 ||
             command.stride_width > capacity || command.dilation_width > capacity ||
             command.row_step >= capacity || command.image_step >= capacity ||
             command.tap_row_step >= capacity;
    case Opcode::kLoadActivations:
      return command.rows > capacity || command.slot >= capacity || command.passes != 1 ||
             command.blocks != 1 || command.place > words ||
             command.count > (words - command.place) / capacity;
    default:
      return (command.flags & flag::kAccumulate) == 0 || command.blocks != 1 ||
             command.count > 0xffff || !walk_holds(command.in_row) ||
             !walk_holds(command.in_column);
  }
}

/// Does what it reads or writes pass the end of the address space?
bool passes_end(const Command& command, const Uses& uses, const Geometry& geometry) {
  const std::uint64_t end = std::uint64_t{1} << geometry.address_width;
  const std::uint64_t room = (end - command.address()) / geometry.n / uses.bytes;
  if (!uses.strided) {
    return (is_snapshot(command) ? snapshot_beats(geometry.n) : command.count) > room;
  }
  const std::uint64_t tile = std::uint64_t{command.rows} * command.blocks;  // of one, in all blocks
  if (tile > room) return true;
  const std::uint64_t others = command.count - 1;
  return command.stride != 0 && others > (room - tile) / command.stride;
}

}  // namespace

ErrorCode check_command(const Command& command, const WindowOrder& before,
                        const Geometry& geometry) {
  const Uses used = uses(command);
  if (!used.known) return ErrorCode::kBadOpcode;
  if (bad_operand(command, used, geometry)) return ErrorCode::kBadOperand;
  if (used.address &&
      (command.address() >> geometry.address_width != 0 || command.address() % geometry.n != 0)) {
    return ErrorCode::kBadAddress;
  }
  if (is_window(command) &&
      (bad_window(command, geometry) || before.refusal(command, geometry) != nullptr)) {
    return ErrorCode::kBadOperand;
  }
  if (used.address && passes_end(command, used, geometry)) return ErrorCode::kBadAddress;
  return ErrorCode::kNone;
}

}  // namespace gemm64

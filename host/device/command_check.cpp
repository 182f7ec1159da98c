// SPDX-License-Identifier: Apache-2.0
#include "host/device/command_check.hpp"

#include <cstdint>

#include "host/device/commands.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/vector_path.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64 {
namespace {

bool bad_format(const Command& store) {
  const auto format = ResultFormat::of(store);
  if (!format) return true;
  return format->takes_parameters() && format->value(store.low) > format->value(store.high);
}

bool bad_window(const Command& command, const Geometry& geometry) {
  const std::uint64_t words = geometry.scratchpad_words;
  if (broken_bound(command, geometry, true) != nullptr) return true;
  switch (command.opcode) {
    case Opcode::kLoadActivations:
      return command.place > words || command.count > (words - command.place) / command.capacity;
    case Opcode::kMatmul:
      return (command.flags & flag::kAccumulate) == 0;
    default:
      return false;
  }
}

/// Does what it reads or writes pass the end of the address space?
bool passes_end(const Command& command, const Geometry& geometry) {
  const CommandFact& fact = *fact_of(command.opcode);
  const std::uint64_t end = std::uint64_t{1} << geometry.address_width;
  const std::uint64_t bytes = fact.of_format ? ResultFormat::of(command)->bytes() : 1;
  const std::uint64_t room = (end - command.address()) / geometry.n / bytes;
  const std::uint64_t run = value_of(command, fact.run, snapshot_beats(geometry.n));
  const std::uint64_t tile = run * value_of(command, fact.blocks);  // of one, in all blocks
  if (tile > room) return true;
  const std::uint64_t others = value_of(command, fact.runs) - 1;
  const std::uint64_t step = value_of(command, fact.step, 0);
  return step != 0 && others > (room - tile) / step;
}

}  // namespace

ErrorCode check_command(const Command& command, const WindowOrder& before,
                        const Geometry& geometry) {
  if (fact_of(command.opcode) == nullptr) return ErrorCode::kBadOpcode;
  if (broken_bound(command, geometry, false) != nullptr) return ErrorCode::kBadOperand;
  if (is_store(command) && bad_format(command)) return ErrorCode::kBadOperand;
  const bool address = has_address(command);
  if (address &&
      (command.address() >> geometry.address_width != 0 || command.address() % geometry.n != 0)) {
    return ErrorCode::kBadAddress;
  }
  if (is_window(command) &&
      (bad_window(command, geometry) || before.refusal(command, geometry) != nullptr)) {
    return ErrorCode::kBadOperand;
  }
  if (is_vector(command) && vector_refusal(command, geometry.n)) return ErrorCode::kBadOperand;
  if (address && passes_end(command, geometry)) return ErrorCode::kBadAddress;
  return ErrorCode::kNone;
}

}  // namespace gemm64

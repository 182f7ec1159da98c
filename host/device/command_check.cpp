// SPDX-License-Identifier: Apache-2.0
#include "host/device/command_check.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "host/device/command_rules.hpp"
#include "host/device/commands.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/vector_path.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64 {
namespace {

/// The end of the memory that a command reads or writes.
std::uint64_t end_of_memory(const Command& command, const Geometry& geometry) {
  if (!geometry.tensor_memory) return std::uint64_t{1} << geometry.address_width;
  const std::uint64_t base = geometry.tensor_base();
  return command.address() < base ? base : base + std::uint64_t{geometry.tensor_words} * geometry.n;
}

std::string bad_address(const Command& command, const Geometry& geometry) {
  if (command.address() % geometry.n != 0) {
    return fmt::format("the address must be a multiple of {}", geometry.n);
  }
  if (command.address() >> geometry.address_width != 0) {
    return fmt::format("the address is wider than {} bits", geometry.address_width);
  }
  if (!geometry.in_tensor_memory(command.address())) return "";
  const Opcode opcode = command.opcode;
  if (opcode != Opcode::kStore && opcode != Opcode::kLoadActivations &&
      opcode != Opcode::kLoadOperands) {
    return "the tensor memory holds activations, operands and results only";
  }
  if (command.address() < end_of_memory(command, geometry)) return "";
  return fmt::format("the tensor memory ends after {} words", geometry.tensor_words);
}

std::string bad_vector(const Command& command, const CommandOrder& before,
                       const Geometry& geometry) {
  const StoreCommand store(command);
  if (store.keep != 0 && !before.vector_settings()) {
    return "KEEP needs a STORE with VECTOR and without KEEP before it, since the reset";
  }
  if (!geometry.in_tensor_memory(store.address)) return "";
  const auto lanes = vector_lanes(store.keep != 0 ? *before.vector_settings() : store, geometry.n);
  if (lanes == std::pair{0U, geometry.n}) return "";
  return "a word of the tensor memory can only be written with all lanes";
}

/// Does what it reads or writes pass the end of the address space?
bool passes_end(const Command& command, const Geometry& geometry) {
  const CommandFact& fact = *fact_of(command.opcode);
  const std::uint64_t end = end_of_memory(command, geometry);
  const std::uint64_t bytes = fact.of_format ? ResultFormat::of(command.format)->bytes() : 1;
  const std::uint64_t room = (end - command.address()) / geometry.n / bytes;
  const std::uint64_t run = value_of(command, fact.run, snapshot_beats(geometry.n));
  const std::uint64_t tile = run * value_of(command, fact.blocks);  // of one, in all blocks
  if (tile > room) return true;
  const std::uint64_t others = value_of(command, fact.runs) - 1;
  const std::uint64_t step = value_of(command, fact.step, 0);
  return step != 0 && others > (room - tile) / step;
}

}  // namespace

void CommandOrder::add(const Command& command) {
  if (is_window(command)) windows_.add(command);
  if (is_vector(command) && StoreCommand(command).keep == 0) vector_settings_.emplace(command);
}

bool is_legal(const Command& command, const Geometry& geometry) {
  if (fact_of(command.opcode) == nullptr || broken_rule(command, geometry) != nullptr) return false;
  return !has_address(command) ||
         (bad_address(command, geometry).empty() && !passes_end(command, geometry));
}

Refusal check_command(const Command& command, const CommandOrder& before,
                      const Geometry& geometry) {
  if (fact_of(command.opcode) == nullptr) return {ErrorCode::kBadOpcode, "no such command"};
  std::string why = rule_refusal(command, geometry, true);
  if (!why.empty()) return {ErrorCode::kBadOperand, std::move(why)};
  const bool address = has_address(command);
  if (address) why = bad_address(command, geometry);
  if (!why.empty()) return {ErrorCode::kBadAddress, std::move(why)};
  why = rule_refusal(command, geometry, false);
  if (why.empty() && is_window(command)) {
    const char* const order = before.windows().refusal(command, geometry);
    if (order != nullptr) why = order;
  }
  if (why.empty() && is_vector(command)) why = bad_vector(command, before, geometry);
  if (!why.empty()) return {ErrorCode::kBadOperand, std::move(why)};
  if (!address || !passes_end(command, geometry)) return {};
  if (geometry.in_tensor_memory(command.address())) {
    return {ErrorCode::kBadAddress,
            fmt::format("its words pass the end of the tensor memory, {} words",
                        geometry.tensor_words)};
  }
  return {ErrorCode::kBadAddress,
          fmt::format("its words pass the end of an address space of {} bits",
                      geometry.address_width - (geometry.tensor_memory ? 1 : 0))};
}

}  // namespace gemm64

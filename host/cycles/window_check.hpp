// SPDX-License-Identifier: Apache-2.0
// Commands of windows that the accelerator rejects.
#pragma once

#include <cstddef>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"

namespace gemm64::cycles {

/// Is it a LOAD_ACTIVATIONS or a MATMUL of a window?
constexpr bool of_window(const Command& command) {
  return (command.opcode == Opcode::kLoadActivations || command.opcode == Opcode::kMatmul) &&
         (command.flags & flag::kWindow) != 0;
}

/// Throws UsageError, naming the command, if a LOAD_ACTIVATIONS or MATMUL with WINDOW keeps its
/// bounds and is refused with BAD_OPERAND nevertheless.
void check_window(const std::vector<Command>& program, std::size_t index, const Geometry& geometry);

}  // namespace gemm64::cycles

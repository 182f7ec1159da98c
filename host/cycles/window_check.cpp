// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/window_check.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "host/cycles/program_check.hpp"

namespace gemm64::cycles {
void check_window(const std::vector<Command>& program, std::size_t index,
                  const Geometry& geometry) {
  const Command& command = program[index];
  if (command.opcode == Opcode::kMatmul && (command.flags & flag::kAccumulate) == 0) {
    refuse(program, index, "WINDOW needs ACCUMULATE");
  }
  if (command.opcode != Opcode::kLoadActivations) return;
  const std::uint64_t end = command.place + std::uint64_t{command.count} * command.capacity;
  if (end <= geometry.scratchpad_words) return;
  refuse(program, index,
         fmt::format("PLACE + COUNT * CAPACITY is {}; it must be at most SCRATCHPAD_WORDS, {}", end,
                     geometry.scratchpad_words));
}

}  // namespace gemm64::cycles

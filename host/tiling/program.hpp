// SPDX-License-Identifier: Apache-2.0
// A plan as commands for the accelerator, and where its operands lie in device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/device/registers.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// Addresses in device memory, each on a 4 KiB boundary so that bursts are as long as can be.
struct Layout {
  std::uint64_t ring = 0;
  std::uint64_t weights = 0;
  std::uint64_t parameters = 0;  // of 8-bit results; there are none for sums
  std::uint64_t activations = 0;
  /// Pixels from a plane of them to the next, where there are more than a convolution reads.
  std::uint64_t plane_pixels = 0;
  std::uint64_t operands = 0;  // second ones of results that take some
  /// Rows from a tile of them to the next; 0: as many as of results.
  std::uint64_t operand_rows = 0;
  std::uint64_t results = 0;
  std::uint64_t end = 0;  // bytes in all
};

/// Commands in the ring of one job; a power of two.
inline constexpr std::uint32_t kRingCommands = 64;

/// Places of a ring that holds a program of that many commands: a power of two, one place of which
/// stays empty. Throws UsageError if no ring holds as many.
std::uint32_t ring_places(std::uint64_t commands);

/// The next address that is a multiple of 4 KiB.
std::uint64_t page_up(std::uint64_t address);

/// Lays out ring, weights, parameters, activations, operands and results one after the other from
/// address 0. The ring has places for the plan's own program.
Layout make_layout(const Plan& plan);
/// The same without a ring, from address `from` on. `activations`, `operands`: where they lie
/// already, if they do; `results`: where they are to be, if not there.
Layout make_layout(const Plan& plan, std::uint64_t from,
                   std::optional<std::uint64_t> activations = std::nullopt,
                   std::optional<std::uint64_t> operands = std::nullopt,
                   std::optional<std::uint64_t> results = std::nullopt);

/// The commands that carry out a plan by itself, FINISH last; see job_commands().
std::vector<Command> make_program(const Plan& plan, const Layout& layout);

/// Commands in the program of a plan.
std::uint64_t program_length(const Plan& plan);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A plan as commands for the accelerator, and where its operands lie in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/registers.hpp"
#include "host/job/plan.hpp"

namespace gemm64 {

/// Addresses in device memory, each on a 4 KiB boundary so that bursts are as long as can be.
struct Layout {
  std::uint64_t ring = 0;
  std::uint64_t weights = 0;
  std::uint64_t activations = 0;
  std::uint64_t results = 0;
  std::uint64_t end = 0;  // bytes in all
};

/// Commands in the ring; a power of two.
inline constexpr std::uint32_t kRingCommands = 64;

/// Lays out ring, weights, activations and results one after the other from address 0.
Layout make_layout(const Plan& plan);

/// The commands that carry out a plan, FINISH last. For each group of blocks of M: LOAD_WEIGHTS,
/// LOAD_ACTIVATIONS, MATMUL, STORE; their engines run ahead of each other.
std::vector<Command> make_program(const Plan& plan, const Layout& layout);

/// Commands in the program of a plan.
std::uint64_t program_length(const Plan& plan);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Legal programs of every command with something broken in them, drawn from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "host/check/cosim_work.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"

namespace gemm64 {

/// What a program was before it was broken.
enum class ProgramKind { kProduct, kEightBits, kConvolution, kStrips, kChain };
inline constexpr std::size_t kProgramKinds = 5;
/// "product", "8-bit results", ...
const char* name(ProgramKind kind);

/// A program that is broken, and a legal one that runs after it.
struct BrokenProgram {
  std::uint64_t index = 0;
  ProgramKind kind = ProgramKind::kProduct;
  MemoryTiming memory;
  std::uint32_t seed = 0;            // of the device's stalls
  CosimWork work;                    // its one program is the broken one, FINISH last
  std::vector<std::string> changes;  // what was broken, in words
  CosimWork next;
};

/// A legal program of a kind, on random operands.
CosimWork draw_program(ProgramKind kind, const Geometry& geometry, std::mt19937& random);

/// Breaks a program in one place to three: bits flipped, fields set to extremes, to their
/// neighbours or to what another command has there, commands dropped, doubled, swapped. The last
/// command stays, so that a wait can end. Returns a description of the change.
std::vector<std::string> break_program(std::vector<Command>& program, const Geometry& geometry,
                                       std::mt19937& random);

/// All of it follows from seed and index; kinds come by turns.
BrokenProgram draw_broken_program(std::uint32_t seed, std::uint64_t index,
                                  const Geometry& geometry);

}  // namespace gemm64

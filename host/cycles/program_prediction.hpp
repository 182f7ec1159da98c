// SPDX-License-Identifier: Apache-2.0
// What the layers of a program are predicted to count.
#pragma once

#include <vector>

#include "host/device/counters.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/tiling/job_program.hpp"

namespace gemm64 {

/// Layers of a program overlap: the next one's first tiles run while the last results of the one
/// before are on their way to memory. So what the device counts from one FENCE's snapshot to the
/// next is not all of one layer, nor of only one.
struct ProgramPrediction {
  /// From the FENCE that ends the layer before to its own, which the device's snapshots must equal.
  std::vector<Counters> between_fences;
  /// From its first tile to that of the next layer: all its products are in these cycles, and no
  /// others. The first layer's begin with the program, the last one's end with it.
  std::vector<Counters> layers;
  DramCounts dram;  // of the program, where memory is a DRAM channel
};

/// Predicts each layer of a program, with a memory that does not stall.
ProgramPrediction predict_program(const JobProgram& list, const Geometry& geometry,
                                  const MemoryTiming& memory);

}  // namespace gemm64

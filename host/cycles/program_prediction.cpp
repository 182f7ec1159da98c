// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_prediction.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/device/snapshot.hpp"

namespace gemm64 {

ProgramPrediction predict_program(const JobProgram& list, const Geometry& geometry,
                                  const MemoryTiming& memory) {
  const Prediction predicted =
      predict(list.program, list.geometry_on(geometry), memory, first_matmuls(list), {list.ring});
  ProgramPrediction program;
  program.dram = predicted.dram;
  Counters fence{}, start{};
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const bool last = i + 1 == list.jobs.size();
    const Counters& next_fence = last ? predicted.counters : predicted.snapshots.at(i).counters;
    const Counters& next_start = last ? predicted.counters : predicted.starts.at(i);
    program.between_fences.push_back(between(fence, next_fence));
    program.layers.push_back(between(start, next_start));
    fence = next_fence;
    start = next_start;
  }
  return program;
}

}  // namespace gemm64

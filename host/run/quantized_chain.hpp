// SPDX-License-Identifier: Apache-2.0
// Quantized Linear layers, one after the other, as one program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/device/counters.hpp"
#include "host/device/memory_timing.hpp"
#include "host/driver/driver.hpp"
#include "host/job/job_program.hpp"
#include "host/numerics/matrix.hpp"
#include "host/numerics/quality.hpp"

namespace gemm64 {

/// x[M x K] becomes clamp(rint(float32(x * W^T + bias) * scale) + zero, low, high), M x N, or the
/// sums x * W^T where the output is int32. A layer whose results another takes gives int8: values
/// of uint8 are int8 with the top bit flipped, so its zero point and bounds are 128 less, and what
/// the next subtracts as the zero point of its activations is in that one's bias.
struct QuantizedLayer {
  std::string name;
  MatrixI8 weights;                // N x K
  std::vector<std::int32_t> bias;  // N; this and the scales are not used for int32
  std::vector<float> scales;       // N; finite, at least 0
  Output output;
};

/// What a layer of a chain gave, and what it should have.
struct ChainedLayer {
  MatrixI32 results;      // M x N, as the device wrote them
  Mismatches mismatches;  // of all of them, against the reference
  Counters counters{};    // from the fence that ended the layer before to the one that ended it
  Counters predicted{};   // for a memory without stalls
};

/// The layers as one program: the results of each are the activations of the next, where they lie.
/// Throws UsageError as make_plan() does, std::invalid_argument where the list is empty or a layer
/// does not take what the one before gives.
JobProgram make_chain(std::uint64_t m, const std::vector<QuantizedLayer>& layers,
                      const Geometry& geometry);

/// Runs them on activations x[M x K] of the first. Every value of every layer is read back and
/// compared with the reference of the whole chain. Throws as make_chain() and Driver::run() do, and
/// UsageError where a scale is negative or not finite.
std::vector<ChainedLayer> run_chain(Driver& driver, const MemoryTiming& memory, const MatrixI8& x,
                                    const std::vector<QuantizedLayer>& layers,
                                    const Progress& progress = nullptr);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What the page gives the accelerator to do.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/job_program.hpp"

namespace gemm64::web {

/// Operands of a job, in rows and columns as a person writes them.
struct Operands {
  MatrixI8 activations;            // empty where the job reads the results of another one
  MatrixI8 weights;                // of a pool without columns
  MatrixI8 second;                 // of results; empty where they take none
  std::vector<std::int32_t> bias;  // of 8-bit results
  std::vector<float> scale;
};

/// One program for one device.
struct Work {
  JobProgram list;
  std::vector<Operands> operands;                     // of each job
  std::vector<SharedBytes> weights;                   // packed
  std::vector<std::vector<std::uint8_t>> parameters;  // packed; empty where a job has none

  /// As the driver takes them; they refer to this work.
  std::vector<JobOperands> for_driver() const;
};

/// Reads a work as the page says it: {"kind": "product", "m", "k", "n"}, with "a" and "w" (rows of
/// numbers; random where they are missing), "results": "int32" or "int8", "accumulate": "device" or
/// "host"; {"kind": "convolution", "channels", "height", "width", "out_channels", "kernel",
/// "stride", "pad"}; {"kind": "chain"}, two convolutions, the second of which reads what the first
/// wrote; {"kind": "residual"}, two likewise, the second of which gives as many channels as
/// entered, and adds what entered in the element-wise unit; {"kind": "depthwise"} and {"kind":
/// "pool"}, a channel each for itself, on the lanes: its products' sum, or its largest value;
/// {"kind": "network", "height", "width", "a", "layers"}, convolutions of 8-bit results, each
/// after the other, with "weights", "bias", "scale", "kernel", "stride", "pad" and "low".
/// "seed" draws what is not given. Throws UsageError, in one sentence.
Work make_work(const nlohmann::json& said, const Geometry& geometry);

/// A work of some kind and its memory, drawn from a seed, the same everywhere.
struct Drawn {
  nlohmann::json work;
  MemoryTiming memory;
};
Drawn draw_work(std::uint32_t seed, std::uint32_t array);

}  // namespace gemm64::web

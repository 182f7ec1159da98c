// SPDX-License-Identifier: Apache-2.0
// Predictions with and without the skipping of work that repeats, for tests.
#pragma once

#include "host/cycles/cycle_model.hpp"

namespace gemm64 {

/// Is work that repeats skipped, which changes no counter, or followed each time?
enum class Repeated { kSkip, kFollow };

/// As predict(), which skips it.
Prediction predict(const std::vector<Command>& program, const Geometry& geometry,
                   const MemoryTiming& memory, const std::vector<std::size_t>& matmuls,
                   const Ring& ring, Repeated repeated);

}  // namespace gemm64

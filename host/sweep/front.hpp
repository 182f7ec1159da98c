// SPDX-License-Identifier: Apache-2.0
// The Pareto front of a sweep's designs.
#pragma once

#include <vector>

#include "host/sweep/row.hpp"

namespace gemm64 {

/// Of each row: is its design on the front of its network and batch? So it is where no other takes
/// at most its clocks with at most its array, scratchpad, accumulator and memory (ports, bytes a
/// clock, latency), and less of one of them. A row without clocks, or not verified, never is.
std::vector<bool> pareto_front(const std::vector<SweepRow>& rows);

}  // namespace gemm64

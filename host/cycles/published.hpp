// SPDX-License-Identifier: Apache-2.0
// What published formulas give for the same array, to be compared with the measured cycles.
#pragma once

#include <cstdint>

#include "host/tiling/plan.hpp"

namespace gemm64 {

/// Cycles of one product on an array of R = C = `array` rows and columns.
struct PublishedCycles {
  /// SCALE-Sim v3, output-stationary: ceil(M/R) ceil(N/C) (K + R + C - 2) - 1.
  std::uint64_t scale_sim_os = 0;
  /// SCALE-Sim v3, weight-stationary: ceil(K/R) ceil(N/C) (M + 2R + C - 2) - 1.
  std::uint64_t scale_sim_ws = 0;
  /// Weight-stationary, the array waiting for each tile's weights: T (R + M) + R + C - 2 with
  /// T = ceil(K/R) ceil(N/C).
  std::uint64_t single_buffered = 0;
  /// Weight-stationary, the next tile loaded in parallel: R + T max(M, R) + R + C - 2.
  std::uint64_t double_buffered = 0;
};

/// `groups`: the formulas know only matrix products, so a convolution of several groups is that
/// many products, one after the other, each of N / groups columns.
PublishedCycles published_cycles(const GemmShape& shape, std::uint32_t array,
                                 std::uint32_t groups = 1);

/// Of a job's plan; so are the products of a stack.
PublishedCycles published_cycles(const Plan& plan);

}  // namespace gemm64

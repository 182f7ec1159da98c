// SPDX-License-Identifier: Apache-2.0
// Ranges that leave rare numbers out, so that the others get finer steps.
#pragma once

#include "host/runtime/calibration.hpp"

namespace gemm64 {

enum class RangeMethod { kMinMax, kPercentile, kEntropy };

struct RangeOptions {
  RangeMethod method = RangeMethod::kMinMax;
  double percentile = 99.999;  // of the magnitudes, that lie within
  std::int64_t bins = 0;       // of a histogram; 0: 2,048 for percentiles, 128 for entropy
};

/// The ranges of `extremes`, which calibrate() measured of the same network and inputs, as narrow
/// as `options` ask for; constants keep theirs. As ONNX Runtime's calibrators choose them:
/// - kPercentile: up to the magnitude below which that percentage of all numbers is;
/// - kEntropy: the range, symmetric around 0, whose 128 steps tell most of the distribution
///   (Kullback and Leibler's divergence); of as few bins as steps there is only one to choose.
/// Neither reaches beyond the extremes.
Ranges narrowed_ranges(const ObservedNetwork& network, const NetworkInputs& inputs,
                       const Ranges& extremes, const RangeOptions& options);

}  // namespace gemm64

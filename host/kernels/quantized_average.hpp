// SPDX-License-Identifier: Apache-2.0
// What QLinearAveragePool makes of the float32 sum of a window's values.
#pragma once

#include <cstdint>

#include "host/kernels/quantization.hpp"

namespace gemm64 {

/// The mean of `count` values whose sum is given, in steps of `to`: the zero point is added before
/// it is rounded. It never falls where the sum grows.
template <class T>
T quantized_mean(float sum, std::int64_t count, const Quantization& to) {
  const float mean = sum / static_cast<float>(count);
  return to_quantized<T>(mean / to.scale + static_cast<float>(to.zero), 0);
}

/// A value of 8 bits as it is added.
inline float dequantized(std::int32_t value, const Quantization& from) {
  return from.scale * static_cast<float>(value - from.zero);
}

/// The factor of a whole map's exact sum in the steps of its mean.
inline float whole_map_scale(const Quantization& from, const Quantization& to, std::int64_t count) {
  return from.scale / (to.scale * static_cast<float>(count));
}

}  // namespace gemm64

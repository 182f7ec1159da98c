// SPDX-License-Identifier: Apache-2.0
// Averages of 8-bit values as the requantizer makes them of exact sums.
#pragma once

#include <cstdint>
#include <optional>

#include "host/kernels/quantization.hpp"

namespace gemm64 {

/// What makes a sum of int8 values a mean: rint(float32(sum + bias) * scale) + zero, clamped.
/// `zero` is as the results' type has it.
struct AverageFactors {
  std::int32_t bias = 0;
  float scale = 1;
  std::int32_t zero = 0;
};

/// Of maps of `count` values, of each of which there is one mean: the host's kernel has exact sums,
/// too. The zero point of `from` is as int8. Nothing where the scale is no positive number.
std::optional<AverageFactors> whole_map_factors(const Quantization& from, const Quantization& to,
                                                std::uint32_t count);

/// Of windows of `count` values, some of which may lie beyond the border and count as zero. The
/// host's kernel (host/kernels/quantized_average.hpp) adds dequantized values in float32, so what
/// it gives may depend on which values make up a sum. The factors give the same for each sum that
/// there is, whatever it is made of, or there are none.
std::optional<AverageFactors> window_factors(const Quantization& from, const Quantization& to,
                                             std::uint32_t count, DataType type);

}  // namespace gemm64

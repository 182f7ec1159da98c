// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr float kLargestCode = 127.0f;

// Largest magnitude of `count` values. Floats without their sign bit order as integers do, with
// infinities and NaNs on top: one integer maximum, which vectorizes, finds both the largest
// magnitude and any value that is not finite.
float max_magnitude(const float* values, Eigen::Index count) {
  std::uint32_t largest_bits = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof bits);
    largest_bits = std::max(largest_bits, bits & 0x7fffffffu);
  }
  float largest;
  std::memcpy(&largest, &largest_bits, sizeof largest);
  return largest;
}

[[noreturn]] void throw_not_finite(const Eigen::Ref<const MatrixF>& matrix) {
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      if (!std::isfinite(matrix(r, c))) {
        throw UsageError("cannot quantize: the value at row " + std::to_string(r) + ", column " +
                         std::to_string(c) + " is " + std::to_string(matrix(r, c)) +
                         "; every value must be finite");
      }
    }
  }
  throw std::logic_error("throw_not_finite: every value is finite");
}

float scale_for(float magnitude) {
  if (magnitude == 0.0f) return 1.0f;
  // A subnormal scale would have too few bits: codes could then round past 127.
  return std::max(magnitude / kLargestCode, std::numeric_limits<float>::min());
}

void quantize_values(const float* values, Eigen::Index count, float scale, std::int8_t* codes) {
  for (Eigen::Index i = 0; i < count; ++i) {
    // nearbyint rounds ties to even in the default mode. No code can pass 127: the scale is within
    // half a unit in the last place of max|x| / 127, so the quotient is 127 to six digits at most.
    codes[i] = static_cast<std::int8_t>(std::nearbyint(values[i] / scale));
  }
}

}  // namespace

QuantizedMatrix quantize_per_tensor(const MatrixF& matrix) {
  const float magnitude = max_magnitude(matrix.data(), matrix.size());
  if (!std::isfinite(magnitude)) throw_not_finite(matrix);
  QuantizedMatrix result{MatrixI8(matrix.rows(), matrix.cols()), Eigen::VectorXf(1)};
  result.scales(0) = scale_for(magnitude);
  quantize_values(matrix.data(), matrix.size(), result.scales(0), result.values.data());
  return result;
}

QuantizedMatrix quantize_per_row(const Eigen::Ref<const MatrixF>& matrix) {
  QuantizedMatrix result{MatrixI8(matrix.rows(), matrix.cols()), Eigen::VectorXf(matrix.rows())};
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    const float* row = matrix.data() + r * matrix.outerStride();
    const float magnitude = max_magnitude(row, matrix.cols());
    if (!std::isfinite(magnitude)) throw_not_finite(matrix);
    result.scales(r) = scale_for(magnitude);
    quantize_values(row, matrix.cols(), result.scales(r), result.values.data() + r * matrix.cols());
  }
  return result;
}

MatrixF dequantize_linear(const MatrixI32& sums, float activation_scale,
                          const Eigen::VectorXf& weight_scales, const Eigen::VectorXf& bias) {
  if (weight_scales.size() != sums.cols() || bias.size() != sums.cols()) {
    throw std::invalid_argument("dequantize_linear: " + std::to_string(sums.cols()) +
                                " columns of sums, but " + std::to_string(weight_scales.size()) +
                                " weight scales and " + std::to_string(bias.size()) + " biases");
  }
  const Eigen::RowVectorXf scales = (activation_scale * weight_scales).transpose();
  MatrixF result = sums.cast<float>();
  result.array().rowwise() *= scales.array();
  result.rowwise() += bias.transpose();
  return result;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Symmetric int8 quantization, and the way back from int32 sums to float32.
#pragma once

#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// int8 values and the scales that turn them back: real value = values(r, c) * scale, with one
/// scale for the whole matrix (scales.size() == 1) or one for each row (scales.size() == rows).
struct QuantizedMatrix {
  MatrixI8 values;
  Eigen::VectorXf scales;
};

/// One scale for all of `matrix`: max|x| / 127. Values are x / scale, rounded to nearest even, in
/// [-127, 127] (the range is symmetric: -128 is never produced). An all-zero matrix has scale 1;
/// the scale is never below the smallest normal float. Throws UsageError if a value is not
/// finite.
QuantizedMatrix quantize_per_tensor(const MatrixF& matrix);

/// As quantize_per_tensor, with a scale for each row: for weights [N x K], one an output channel.
QuantizedMatrix quantize_per_row(const Eigen::Ref<const MatrixF>& matrix);

/// Real outputs of a Linear layer from its int32 sums [M x N]:
/// y(m, n) = sums(m, n) * activation_scale * weight_scales(n) + bias(n).
/// Throws std::invalid_argument if the vectors are not N long.
MatrixF dequantize_linear(const MatrixI32& sums, float activation_scale,
                          const Eigen::VectorXf& weight_scales, const Eigen::VectorXf& bias);

}  // namespace gemm64

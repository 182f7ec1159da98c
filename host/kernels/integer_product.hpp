// SPDX-License-Identifier: Apache-2.0
// Products of quantized tensors: exact sums, and what becomes of them. The interface for a device,
// which computes both: `requantize` is its arithmetic.
#pragma once

#include <vector>

#include "host/kernels/quantization.hpp"

namespace gemm64 {

/// A tensor of int8 or uint8 with what is subtracted from its values: one zero point, or one for
/// each output channel (columns of a matrix, filters of a convolution).
struct IntegerOperand {
  const Tensor& values;
  std::vector<std::int32_t> zeros;
};

/// How sums become results, by output channel: scale, and what is added before (absent: nothing).
/// One scale stands for all.
struct OutputScale {
  std::vector<float> scales;
  Tensor bias;  // int32
};

/// What the 8-bit results of a QLinearMatMul or a QGemm are: scales of their sums, one or one a
/// column, and type and zero point.
struct ByteResults {
  std::vector<float> scales;
  DataType type = onnx::TensorProto::UNDEFINED;
  std::int32_t zero = 0;
};

/// Those of a node that has them. Throws UsageError where its scales or zero points do not fit.
ByteResults byte_results(const NodeContext& node, const Tensors& inputs);

/// NumPy's matmul of (a - zero) and (b - zero), int32. `b_transposed`: b, a matrix, holds its
/// columns as rows. Throws UsageError where shapes do not fit.
Tensor matrix_sums(const NodeContext& node, const IntegerOperand& a, const IntegerOperand& b,
                   bool b_transposed = false);

/// The convolution of (x - zero) with (weights - zero), int32; padding counts as the zero point.
Tensor convolution_sums(const NodeContext& node, const IntegerOperand& x,
                        const IntegerOperand& weights);

/// rint(clamp(float(sum + bias) * scale)) + zero, as `type`. Channels are along `axis`.
Tensor requantize(const NodeContext& node, const Tensor& sums, std::size_t axis,
                  const OutputScale& scale, DataType type, std::int32_t zero);

}  // namespace gemm64

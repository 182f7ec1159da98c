// SPDX-License-Identifier: Apache-2.0
// Products of quantized tensors as what the accelerator knows: int8 activations times int8 weights,
// and a bias and a scale for each column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/execute/executor.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// A quantized Linear layer, for a device that multiplies int8. uint8 values are moved down by 128,
/// zero points too, so that all differences stay the same.
struct QuantizedLayer {
  std::string name;
  Tensor input;    // as the node takes it
  MatrixI8 a;      // [M x K]
  MatrixI8 w;      // [N x K]
  DataType type = onnx::TensorProto::INT32;  // of results: INT8, UINT8, or INT32 for bare sums
  // Of 8-bit results, by column: result = clamp(rint((a*w + bias) * scale) + zero)
  std::vector<std::int32_t> bias;  // the node's, less the input's zero point times the weights' sums
  std::vector<float> scale;
  std::int32_t zero = 0;  // as `type` has it

  bool has_sums() const { return type == onnx::TensorProto::INT32; }
};

/// The layer that a step is, from its operands; empty where the step is none: see
/// host/onnx/linear_layer.hpp. Throws UsageError where they do not fit.
std::optional<QuantizedLayer> quantized_layer(const Executor& executor, const Step& step,
                                              const Tensors& inputs);

/// Whether a tensor holds the very values of another, perhaps in another shape.
bool same_values(const Tensor& a, const Tensor& b);

}  // namespace gemm64

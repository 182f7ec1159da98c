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

/// A Linear layer from 8-bit values to 8-bit values, for a device that multiplies int8:
/// result = clamp(rint((a * w + bias) * scale) + zero). uint8 activations and weights are moved
/// down by 128, zero points too, so that all differences stay the same.
struct QuantizedLayer {
  std::string name;
  Tensor input;  // as the node takes it
  MatrixI8 a;    // [M x K]
  MatrixI8 w;    // [N x K]
  std::vector<std::int32_t>
      bias;                  // the node's, less the input's zero point times the weights' sums
  std::vector<float> scale;  // by column
  DataType type = onnx::TensorProto::UNDEFINED;  // of the results, INT8 or UINT8
  std::int32_t zero = 0;                         // as `type` has it
  Tensor results;                                // what the host gets; set by who computes them
};

/// 8-bit values as a matrix of int8, moved down by 128 where they are uint8.
MatrixI8 as_int8(const Tensor& tensor, std::int64_t rows, std::int64_t columns);

/// What as_int8 adds to values of a type.
std::int32_t move_to_int8(DataType type);

/// The layer that a step is, which is a Linear layer of integers, from its operands; empty where
/// the device gives its sums alone, and `why` says so in words. Throws UsageError where operands do
/// not fit.
std::optional<QuantizedLayer> quantized_layer(const Executor& executor, const Step& step,
                                              const Tensors& inputs, std::string& why);

/// Whether a tensor holds the very values of another, perhaps in another shape.
bool same_values(const Tensor& a, const Tensor& b);

}  // namespace gemm64

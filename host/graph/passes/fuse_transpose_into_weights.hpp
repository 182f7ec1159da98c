// SPDX-License-Identifier: Apache-2.0
// Weights that are transposed after they are dequantized.
#pragma once

#include <optional>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// Returns the model with such weights transposed in the file, or nothing if it has none.
/// TensorFlow's exporters (tf2onnx) and PyTorch's (pt2e) write this form.
///
/// Before: y = Transpose<perm>(DequantizeLinear<axis>(w, s, z)). After: y =
/// DequantizeLinear<axis'>(v, s, z) with v the transposed w, and perm[axis'] = axis.
///
/// Conditions: w is a constant of 8 bits, or a QuantizeLinear of constants, and not in blocks; s
/// and z are constants, and z is given if w is int8 (not for a Gemm). Other readers of the
/// DequantizeLinear keep it.
std::optional<onnx::ModelProto> fuse_transposes_into_weights(const OnnxModel& model);

}  // namespace gemm64

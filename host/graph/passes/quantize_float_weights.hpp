// SPDX-License-Identifier: Apache-2.0
// Float weights and biases next to quantized activations.
#pragma once

#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Quantizes weights and biases that a QDQ file holds in float32, as ONNX Runtime 1.31 does for all
/// execution providers.
///
/// Before: q = QuantizeLinear(Conv(DequantizeLinear(x, s, z), w, b), ...). After: q =
/// QuantizeLinear(Conv(DequantizeLinear(x, s, z), DequantizeLinear(v, t, o), DequantizeLinear(c,
/// s * t)), ...), with v and o of int8, one scale t for all weights, and c of int32.
///
/// Conditions: a Conv, ConvTranspose or Gemm; s is one constant; only a QuantizeLinear, or a Relu
/// or Clip before one, reads the result. w is a constant, or quantized already: for all values, or
/// for each output channel. b is a constant vector or absent.
void quantize_float_weights(onnx::GraphProto& graph, const OnnxModel& model,
                            const QuantizationReader& reader);

}  // namespace gemm64

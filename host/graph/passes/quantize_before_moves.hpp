// SPDX-License-Identifier: Apache-2.0
// Operators that move values, on quantized ones.
#pragma once

#include <cstdint>

#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Where operators that only move values stand before a QuantizeLinear, quantizes before them as
/// well, so that what is before them is followed by a QuantizeLinear. An output of the graph whose
/// only reader is such a Transpose is quantized, too, as in ONNX Runtime.
///
/// Before: q = QuantizeLinear(Reshape(x, n), s, z). After: a QuantizeLinear and a DequantizeLinear
/// by s and z between x and the Reshape as well.
void quantize_before_moves(onnx::GraphProto& graph, const QuantizationReader& reader,
                           std::int64_t opset);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Writes each Split of values of 8 bits, or of what one DequantizeLinear gives and equal
/// QuantizeLinears read, as a Slice for each of its outputs, whose sizes are known.
void split_to_slices(onnx::GraphProto& graph, const OnnxModel& model,
                     const QuantizationReader& reader);

}  // namespace gemm64

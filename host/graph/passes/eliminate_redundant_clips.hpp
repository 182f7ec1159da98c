// SPDX-License-Identifier: Apache-2.0
// Clips that quantizing makes anyway.
#pragma once

#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Takes out each Relu and Clip whose only reader is a QuantizeLinear that cuts off the same
/// values.
///
/// Before: q = QuantizeLinear(Relu(x), s, z) with z the least value. After: q = QuantizeLinear(x,
/// s, z).
void eliminate_redundant_clips(onnx::GraphProto& graph, const QuantizationReader& reader);

}  // namespace gemm64

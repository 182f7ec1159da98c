// SPDX-License-Identifier: Apache-2.0
// Nodes that compute nothing.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Removes nodes whose output equals one of their inputs, as ONNX Runtime does before it forms
/// groups of quantized nodes: a node left between DequantizeLinear, operator and QuantizeLinear
/// keeps all of them in float.
///
/// Before: q = QuantizeLinear(Identity(Mul(Conv(...), 1)), s, z). After: q =
/// QuantizeLinear(Conv(...), s, z).
///
/// Conditions: an Identity; a Dropout in inference mode whose mask is not read; an Add or Sub of 0,
/// a Mul or Div by 1, the number being one constant float32 of no higher rank; a Cast to its
/// input's type; an Expand that changes no size. The output is neither an output of the graph nor
/// read by a subgraph. With `for_inference` also a Dropout in training mode without a seed, which a
/// network keeps if it was exported without eval(). Returns the number of these.
int eliminate_no_ops(onnx::GraphProto& graph, const OnnxModel& model, bool for_inference = false);

/// Returns true if `eliminate_no_ops` would change the model's graph.
bool has_no_ops(const OnnxModel& model);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Values that several nodes quantize alike.
#pragma once

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Makes one of QuantizeLinear nodes that have the same inputs and attributes, unless the graph
/// gives what they quantize to. ONNX Runtime does so before anything else.
///
/// Before: p = QuantizeLinear(x, s, z), q = QuantizeLinear(x, s, z). After: only p, and what read
/// q reads p.
void merge_equal_quantizes(onnx::GraphProto& graph);

}  // namespace gemm64

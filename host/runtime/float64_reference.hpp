// SPDX-License-Identifier: Apache-2.0
// A float32 Linear layer against the same product in double.
#pragma once

#include "host/graph/proto/onnx.pb.h"
#include "host/runtime/named_tensors.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// Returns the layer's shape, the largest error of `found`, its first output, against a product in
/// double that is rounded once, and how far sums in float32 of its depth may be from that. Requires
/// a Gemm or MatMul with a matrix of weights.
LayerReport compare_with_double(const onnx::NodeProto& node, const Tensors& inputs,
                                const Tensor& found);

}  // namespace gemm64

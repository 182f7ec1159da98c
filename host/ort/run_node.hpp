// SPDX-License-Identifier: Apache-2.0
// One node by ONNX Runtime's CPU provider.
#pragma once

#include <cstdint>
#include <vector>

#include "host/graph/proto/onnx.pb.h"
#include "host/kernels/tensor.hpp"

namespace gemm64::ort {

/// Returns the outputs of a node, of `opset` of ONNX's own domain, for these inputs; absent ones
/// are left out. Throws Error if ONNX Runtime refuses it.
std::vector<Tensor> run_node(onnx::NodeProto node, std::int64_t opset,
                             const std::vector<Tensor>& inputs);

}  // namespace gemm64::ort

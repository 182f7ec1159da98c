// SPDX-License-Identifier: Apache-2.0
// Nodes computed before the network runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Computes a node from tensors that are known before the network runs (one without a type is an
/// input that was left out). Empty if ONNX
/// Runtime does not compute such a node.
std::optional<std::vector<onnx::TensorProto>> fold(const onnx::NodeProto& node, std::int64_t opset,
                                                   const std::vector<onnx::TensorProto>& inputs);

}  // namespace gemm64

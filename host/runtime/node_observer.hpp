// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "host/graph/proto/onnx.pb.h"
#include "host/runtime/named_tensors.hpp"

namespace gemm64 {

/// Is called with each node's outputs when they are known.
struct NodeObserver : std::function<void(const onnx::NodeProto& node, const Tensors& outputs)> {
  using function::function;

  /// Returns whether it also wants the outputs of this node if the device computes them within
  /// another node's and stores them nowhere. Empty: of no such node.
  std::function<bool(const onnx::NodeProto& node)> wants_inner;
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What functions on a node and its inputs share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/graph/proto/attribute.hpp"
#include "host/graph/proto/onnx.pb.h"
#include "host/kernels/tensor.hpp"
#include "host/numerics/matrix.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {

/// Computes result[M x N] = a[M x K] * w[N x K]^T, exact.
using IntegerProduct = std::function<MatrixI32(const MatrixI8& a, const MatrixI8& w)>;

/// A node without its graph.
struct NodeContext {
  const onnx::NodeProto* node = nullptr;
  std::string label;       // for messages: "/features/features.0/Conv (Conv)"
  std::int64_t opset = 0;  // of the default domain: attributes moved to inputs over the years
  const IntegerProduct* product = nullptr;  // computes its products of 8-bit integers
};

using Tensors = std::vector<Tensor>;

/// An error of this node.
UsageError failure(const NodeContext& node, const std::string& what);

/// Input `index`. Throws UsageError where the node leaves it out.
const Tensor& input(const NodeContext& node, const Tensors& inputs, std::size_t index);
/// Input `index`, or an absent tensor.
const Tensor& optional_input(const Tensors& inputs, std::size_t index);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The operators that the host executes, each a function from input tensors to output tensors.
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

/// result[M x N] = a[M x K] * w[N x K]^T, exact, from whoever computes it.
using IntegerProduct = std::function<MatrixI32(const MatrixI8& a, const MatrixI8& w)>;

/// A node as operators see it.
struct NodeContext {
  const onnx::NodeProto* node = nullptr;
  std::string label;       // for messages: "/features/features.0/Conv (Conv)"
  std::int64_t opset = 0;  // of the default domain: attributes moved to inputs over the years
  /// Computes a matrix product of 8-bit integers in the host's place; nullptr: the host does.
  const IntegerProduct* product = nullptr;
  bool constant_weights = false;  // are its weights the same whatever the network's inputs are?
  /// Would ONNX Runtime lay them out for its kernels before it runs? Not those of a
  /// DequantizeLinear, which it does not fold.
  bool packed_weights = false;
};

using Tensors = std::vector<Tensor>;

/// Gets a tensor for each input: absent where the node leaves it out, missing where at the end.
/// Returns one for each output that the node asks for; throws UsageError, whose message begins with
/// the node's label, where shapes, types or attributes do not fit. All are in namespace host.
using OperatorFunction = Tensors(const NodeContext&, const Tensors&);

/// How the host computes an operator.
struct Kernel {
  OperatorFunction* function = nullptr;  // nullptr: it does not
  /// The first opset whose form of the node the function reads.
  std::int64_t since = 0;
  /// Does the function compute on float32 what it is given in 16 bits?
  bool widens = false;
};

/// Computes a node by a kernel that has a function.
Tensors compute(const Kernel& kernel, const NodeContext& node, const Tensors& inputs);

/// An error of this node.
UsageError failure(const NodeContext& node, const std::string& what);

/// Input `index`. Throws UsageError where the node leaves it out.
const Tensor& input(const NodeContext& node, const Tensors& inputs, std::size_t index);
/// Input `index`, or an absent tensor.
const Tensor& optional_input(const Tensors& inputs, std::size_t index);

/// `axis` of a tensor of `rank`, counted from the end where negative. Throws UsageError where there
/// is no such axis.
std::size_t checked_axis(const NodeContext& node, std::int64_t axis, std::size_t rank);

/// The values of a tensor of int32 or int64. Throws UsageError where it is of another type, or has
/// more than one dimension.
std::vector<std::int64_t> integers(const NodeContext& node, const Tensor& tensor);

/// The node's attribute `name`, or nullptr.
const onnx::AttributeProto* find_attribute(const NodeContext& node, const std::string& name);

/// Axes that were an attribute before opset `moved` and are input 1 since; empty where there are
/// none.
std::vector<std::int64_t> axes_of(const NodeContext& node, const Tensors& inputs,
                                  std::int64_t moved);

}  // namespace gemm64

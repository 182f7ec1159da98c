// SPDX-License-Identifier: Apache-2.0
// Operators whose products are of integers: what the host computes before and after these.
#pragma once

#include "host/graph/onnx/host_nodes.hpp"
#include "host/kernels/operators.hpp"

namespace gemm64 {

/// Computes a node of a network by `context.product`, which is given. Throws UsageError if its
/// inputs do not fit.
Tensors compute_integer_node(const NodeContext& context, const Tensors& inputs,
                             const HostNodes& nodes);

}  // namespace gemm64

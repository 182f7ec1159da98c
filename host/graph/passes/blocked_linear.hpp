// SPDX-License-Identifier: Apache-2.0
// One Linear layer as a graph of products of blocks.
#pragma once

#include <cstdint>
#include <string>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/passes/rewrite_plan.hpp"

namespace gemm64 {

/// Appends the nodes that compute what the layer's one node did, from the same operands and into
/// the same output: Transpose where an operand is transposed, Pad, Split along both dimensions, a
/// MatMul for each block of m, n and k, Sum over k, Concat along n and m, Slice back; then alpha,
/// beta and the bias. Steps that would change nothing are left out. Operands of more than two
/// dimensions are reshaped to two only where M is cut; else the graph works for any M. The names of
/// all nodes and values begin with `prefix`. `opset` is at least 7.
void append_blocked_linear(GraphBuilder& graph, const LinearSite& layer, const std::string& prefix,
                           std::int64_t opset);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Nodes that move values: ONNX Runtime, given numbers in place of values, says where each goes.
#pragma once

#include <map>
#include <optional>

#include "host/graph/onnx/host_nodes.hpp"

namespace gemm64 {

/// Returns the first output of node `index` for these tensors in place of its inputs; inputs
/// without one are constants. Nothing if an input is no constant, or one without a value, or ONNX
/// Runtime refuses the node: then it does so again when the network runs.
std::optional<Tensor> compute_numbers(const HostNodes& nodes, int index,
                                      const std::map<int, Tensor>& numbers);

}  // namespace gemm64

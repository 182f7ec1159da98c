// SPDX-License-Identifier: Apache-2.0
// Nodes that move values: the host's kernel, given numbers in place of values, says where each
// goes.
#pragma once

#include <optional>

#include "host/graph/onnx/model.hpp"
#include "host/kernels/operators.hpp"

namespace gemm64 {

/// What node `index` reads where its first input is `numbers`: that, and its constants. Nothing
/// where an input is no constant, or one without a value.
std::optional<Tensors> with_constants(const OnnxModel& model, int index, Tensor numbers);

/// What the node, of a supported operator, gives first; nothing where its kernel refuses the
/// inputs: where it runs, the host will tell of it.
std::optional<Tensor> compute_node(const OnnxModel& model, int index, const Tensors& inputs);

}  // namespace gemm64

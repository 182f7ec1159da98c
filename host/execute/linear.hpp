// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul as what the accelerator knows: activations times the weights of a Linear layer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/execute/executor.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

using ConstMapF = Eigen::Map<const MatrixF>;

/// result[M x N] = a[M x K] * weights[N x K]^T, from whoever computes it.
using LinearFunction = std::function<MatrixF(const MatrixF& a, const ConstMapF& weights)>;

/// Why a node is no Linear layer for the device, in words; empty where it is one. The rule is
/// host/graph/onnx/linear_layer.hpp's; these are the operands themselves.
std::string why_on_host(const Step& step, const Tensors& inputs);

/// The products of such a layer, from the shapes that the model knows before it runs; none where it
/// does not know them, or the node is no such layer.
std::vector<GemmShape> linear_shapes(const OnnxModel& model, const Step& step);

/// Computes such a node: transposes and stacks operands, hands the product to `product`, and
/// applies alpha, beta and bias. Weights that are transposed already (transB) are not copied.
Tensor run_linear(const NodeContext& node, const Tensors& inputs, const LinearFunction& product);

}  // namespace gemm64

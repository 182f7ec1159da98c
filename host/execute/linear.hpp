// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul as what the accelerator knows: activations times the weights of a Linear layer.
#pragma once

#include <functional>

#include "host/execute/operators.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {

using ConstMapF = Eigen::Map<const MatrixF>;

/// result[M x N] = a[M x K] * weights[N x K]^T, from whoever computes it.
using LinearFunction = std::function<MatrixF(const MatrixF& a, const ConstMapF& weights)>;

/// Are the node's second operand its weights, a matrix by type and shape, so that run_linear can
/// take it? For Gemm and for MatMul with a float32 matrix (or a stack of one) of any size but 0.
bool is_linear(const NodeContext& node, const Tensors& inputs);

/// K of such a node.
std::int64_t linear_depth(const NodeContext& node, const Tensors& inputs);

/// Computes such a node: transposes and stacks operands, hands the product to `product`, and
/// applies alpha, beta and bias. Weights that are transposed already (transB) are not copied.
Tensor run_linear(const NodeContext& node, const Tensors& inputs, const LinearFunction& product);

}  // namespace gemm64

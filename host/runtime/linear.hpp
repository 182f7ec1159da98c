// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul as what the accelerator knows: activations times the weights of a Linear layer.
#pragma once

#include <functional>

#include "host/kernels/operators.hpp"
#include "host/numerics/matrix.hpp"
#include "host/runtime/named_tensors.hpp"

namespace gemm64 {

using ConstMapF = Eigen::Map<const MatrixF>;

/// result[M x N] = a[M x K] * weights[N x K]^T, however it is computed.
using LinearFunction = std::function<MatrixF(const MatrixF& a, const ConstMapF& weights)>;

/// Computes a Gemm or MatMul of float32: transposes and stacks operands, hands the product to
/// `product`, and applies alpha, beta and bias. Weights that are transposed already (transB) are
/// not copied.
Tensor run_linear(const NodeContext& node, const Tensors& inputs, const LinearFunction& product);

}  // namespace gemm64

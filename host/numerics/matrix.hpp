// SPDX-License-Identifier: Apache-2.0
// Row-major matrices; a Linear layer is C[M x N] = A[M x K] * W[N x K]^T, as PyTorch stores it.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace gemm64 {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixI8 = Matrix<std::int8_t>;
using MatrixI32 = Matrix<std::int32_t>;
using MatrixF = Matrix<float>;

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The oracle: what every int32 result of the accelerator must be.
#pragma once

#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// C[M x N] = A[M x K] * W[N x K]^T, exact modulo 2^32 (sums wrap as a 32-bit accumulator's do;
/// with int8 operands none can before K = 131,072). Shares no code with the tiling or the devices.
/// Throws std::invalid_argument where A and W differ in K.
MatrixI32 reference_gemm(const MatrixI8& a, const MatrixI8& w);

}  // namespace gemm64

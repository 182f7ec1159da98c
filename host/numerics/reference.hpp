// SPDX-License-Identifier: Apache-2.0
// The oracle: what every int32 result of the accelerator must be.
#pragma once

#include <cstdint>
#include <vector>

#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// C[M x N] = A[M x K] * W[N x K]^T, exact modulo 2^32 (sums wrap as a 32-bit accumulator's do;
/// with int8 operands none can before K = 131,072). Shares no code with the tiling or the devices.
/// Throws std::invalid_argument if A and W differ in K.
MatrixI32 reference_gemm(const MatrixI8& a, const MatrixI8& w);

/// What becomes of each column's sums as 8-bit results: clamp(rint(float32(sum + bias) * scale) +
/// zero, low, high), where sum + bias wraps at 32 bits and all else rounds to nearest, ties to
/// even. Shares no code with the devices. Throws std::invalid_argument if there is not one bias
/// and one scale a column.
MatrixI32 reference_requantize(const MatrixI32& sums, const std::vector<std::int32_t>& bias,
                               const std::vector<float>& scales, int zero, int low, int high);

}  // namespace gemm64

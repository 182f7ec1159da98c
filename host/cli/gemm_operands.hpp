// SPDX-License-Identifier: Apache-2.0
// The operands of `gemm64 gemm`: from files, or random values, the same on every machine for a
// seed.
#pragma once

#include <cstdint>
#include <string>

#include "host/numerics/matrix.hpp"
#include "host/numerics/mersenne_twister.hpp"

namespace gemm64 {

/// A[M x K] from its file or random, int8 or uniform in [-1, 1). `rows`, `columns`: what was asked
/// for, 0 where nothing was. Throws UsageError where the file has other ones.
template <class T>
Matrix<T> gemm_operand(const char* what, const std::string& file, std::int64_t rows,
                       std::int64_t columns, MersenneTwister& random);

/// B[K x N] as a Linear layer stores it, [N x K].
template <class T>
Matrix<T> gemm_weights(const std::string& file, std::int64_t k, std::int64_t n,
                       MersenneTwister& random);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// How close two results are: exactly (int32), and statistically (float32).
#pragma once

#include <cstdint>

#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// 10 log10(sum of reference^2 / sum of (reference - approximation)^2), in dB, added up in double;
/// +infinity where the two are equal, -infinity where only the reference is all zero. Infinities
/// that are equal in both are left out; -infinity where one is not, or a value is NaN.
/// Throws std::invalid_argument if the shapes differ.
double signal_to_noise_db(const MatrixF& reference, const MatrixF& approximation);

/// Fraction of rows whose largest value stands in the same column in both (the first of equals). A
/// row with NaN never agrees.
/// Throws std::invalid_argument if the shapes differ or there is no value.
double top1_agreement(const MatrixF& a, const MatrixF& b);

/// Largest |a - b|; 0 of equal infinities, NaN where a value is NaN. Throws std::invalid_argument
/// if shapes differ.
double max_abs_error(const MatrixF& a, const MatrixF& b);

/// The outcome of an exact comparison; the first mismatch is the first in row-major order, and its
/// fields are zero where there is none.
struct Mismatches {
  std::uint64_t count = 0;
  Eigen::Index first_row = 0;
  Eigen::Index first_column = 0;
  std::int32_t expected = 0;
  std::int32_t found = 0;
  std::int64_t max_abs_error = 0;
};

/// Compares every value. Throws std::invalid_argument if the shapes differ.
Mismatches compare(const MatrixI32& expected, const MatrixI32& found);

}  // namespace gemm64

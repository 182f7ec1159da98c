// SPDX-License-Identifier: Apache-2.0
// float32 matrices as sums of int8 slices, whose products are exact in int32 (the Ozaki scheme).
#pragma once

#include <vector>

#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// Slices of an operand; four give results more accurate than a float32 product.
inline constexpr int kSlices = 4;
/// The largest K whose products are exact: kSlices K 2^12 must stay below 2^31.
inline constexpr Eigen::Index kSlicesMaxDepth = (Eigen::Index{1} << 31) / (kSlices << 12) - 1;

/// Row r of the matrix is 2^(exponents(r) - 6) * sum over i of slices[i].row(r) * 2^(-7 i), up to
/// 2^(exponents(r) - 6 - 7 kSlices + 6); every slice's values are in [-64, 64].
struct SlicedMatrix {
  std::vector<MatrixI8> slices;
  Eigen::VectorXi exponents;  // one a row: |row| <= 2^exponent; 0 for a row of zeros
};

/// Cuts each row, scaled by a power of two, into slices of 7 bits, rounded to nearest.
/// Throws UsageError, which names its place, if a value is not finite.
SlicedMatrix slice_rows(const MatrixF& matrix);

/// The slices that meet in products of weight 2^(-7 order), concatenated along K: for activations
/// slices 0, 1 .. order, for weights slices order .. 1, 0. The product of the two is the sum of the
/// products of slice i of A and slice order - i of W, exact in int32 while (order + 1) K 2^12 fits.
MatrixI8 stack_slices(const SlicedMatrix& matrix, int order, bool reversed);

/// Adds the products of one order, times 2^(-7 order), to `sums` (double).
void add_order(Matrix<double>& sums, const MatrixI32& products, int order);

/// The real result: sums(m, n) * 2^(a.exponents(m) + w.exponents(n) - 12).
MatrixF scale_sums(const Matrix<double>& sums, const SlicedMatrix& a, const SlicedMatrix& w);

/// Largest |exact - found|. An infinite result has no error where the exact one, rounded to
/// float32, is that infinity; NaN is an infinite error.
double slices_error(const Matrix<double>& exact, const MatrixF& found);

/// Largest error that the slices can leave in a result of depth `k`: the five products of order 4
/// and what is beyond, 5.1 K 2^(ea + ew - 28), and the rounding of the result to float32: half of
/// its last place, which is never below 2^-149. A result beyond float32's range is infinite, as
/// that of the exact product, rounded, is.
double slices_error_bound(const SlicedMatrix& a, const SlicedMatrix& w, double k,
                          double largest_result);

}  // namespace gemm64

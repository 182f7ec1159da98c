// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/slices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr int kSliceBits = 7;
constexpr int kFirstBits = kSliceBits - 1;  // |first slice| <= 2^6
// Below 2^-126 float32's steps stop becoming smaller: they are 2^-149.
constexpr double kHalfSmallest = 0x1p-150;

}  // namespace

SlicedMatrix slice_rows(const MatrixF& matrix) {
  SlicedMatrix sliced;
  sliced.slices.assign(kSlices, MatrixI8(matrix.rows(), matrix.cols()));
  sliced.exponents = Eigen::VectorXi::Zero(matrix.rows());
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      const float value = matrix(r, c);
      if (std::isfinite(value)) continue;
      throw UsageError("the value at row " + std::to_string(r) + ", column " + std::to_string(c) +
                       " is " +
                       (std::isnan(value) ? "NaN"
                        : value > 0       ? "inf"
                                          : "-inf") +
                       "; slices of int8 need finite ones");
    }
    const float largest = matrix.row(r).cwiseAbs().maxCoeff();
    if (largest == 0.0F) {
      for (MatrixI8& slice : sliced.slices) slice.row(r).setZero();
      continue;
    }
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    sliced.exponents(r) = exponent;
    const double scale = std::ldexp(1.0, kFirstBits - exponent);
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      double rest = static_cast<double>(matrix(r, c)) * scale;
      for (MatrixI8& slice : sliced.slices) {
        const double part = std::nearbyint(rest);
        slice(r, c) = static_cast<std::int8_t>(part);
        rest = (rest - part) * (1 << kSliceBits);
      }
    }
  }
  return sliced;
}

MatrixI8 stack_slices(const SlicedMatrix& matrix, int order, bool reversed) {
  const MatrixI8& first = matrix.slices.front();  // all have its shape
  const Eigen::Index k = first.cols();
  MatrixI8 stacked(first.rows(), k * (order + 1));
  for (int i = 0; i <= order; ++i) {
    const auto slice = static_cast<std::size_t>(reversed ? order - i : i);
    stacked.middleCols(i * k, k) = matrix.slices[slice];
  }
  return stacked;
}

void add_order(Matrix<double>& sums, const MatrixI32& products, int order) {
  sums += products.cast<double>() * std::ldexp(1.0, -kSliceBits * order);
}

MatrixF scale_sums(const Matrix<double>& sums, const SlicedMatrix& a, const SlicedMatrix& w) {
  MatrixF result(sums.rows(), sums.cols());
  for (Eigen::Index m = 0; m < sums.rows(); ++m) {
    for (Eigen::Index n = 0; n < sums.cols(); ++n) {
      result(m, n) = static_cast<float>(
          std::ldexp(sums(m, n), a.exponents(m) + w.exponents(n) - 2 * kFirstBits));
    }
  }
  return result;
}

double slices_error(const Matrix<double>& exact, const MatrixF& found) {
  double largest = 0;
  for (Eigen::Index i = 0; i < exact.size(); ++i) {
    const float value = found.data()[i];
    if (std::isinf(value) && static_cast<float>(exact.data()[i]) == value) continue;
    const double error = std::abs(exact.data()[i] - static_cast<double>(value));
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, error);
  }
  return largest;
}

double slices_error_bound(const SlicedMatrix& a, const SlicedMatrix& w, double k,
                          double largest_result) {
  const int exponent = a.exponents.maxCoeff() + w.exponents.maxCoeff();
  return 5.1 * k * std::ldexp(1.0, exponent - kSliceBits * kSlices) +
         std::max(largest_result * std::ldexp(1.0, -24), kHalfSmallest);
}

}  // namespace gemm64

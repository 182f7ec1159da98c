// SPDX-License-Identifier: Apache-2.0
#include "host/cli/gemm_operands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/numerics/npy.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// A whole int8 of a random number.
void convert(std::uint32_t number, std::int8_t& value) {
  value = static_cast<std::int8_t>(number >> 24);
}

/// Uniform in [-1, 1).
void convert(std::uint32_t number, float& value) {
  value = static_cast<float>(number >> 8) * 0x1p-23F - 1.0F;
}

/// Random values, the same on every machine for a seed.
template <class T>
void fill(T* values, std::size_t count, MersenneTwister& random) {
  while (count > 0) {
    const auto [numbers, some] = random.next(count);
    for (std::size_t i = 0; i < some; ++i) convert(numbers[i], values[i]);
    values += some;
    count -= some;
  }
}

}  // namespace

template <class T>
Matrix<T> gemm_operand(const char* what, const std::string& file, std::int64_t rows,
                       std::int64_t columns, MersenneTwister& random) {
  if (file.empty()) {
    Matrix<T> matrix(rows, columns);
    fill(matrix.data(), static_cast<std::size_t>(matrix.size()), random);
    return matrix;
  }
  Matrix<T> matrix = load_npy<T>(file);
  if ((rows != 0 && matrix.rows() != rows) || (columns != 0 && matrix.cols() != columns)) {
    throw UsageError(fmt::format("{}: {} is {}x{}, M K N ask for {}x{}", file, what, matrix.rows(),
                                 matrix.cols(), rows, columns));
  }
  return matrix;
}

/// Random values are drawn some rows of B at a time: transposing all of it takes longer than
/// drawing it. Rows are apart, so that a column's values do not compete for one set of the
/// processor's cache.
template <class T>
Matrix<T> gemm_weights(const std::string& file, std::int64_t k, std::int64_t n,
                       MersenneTwister& random) {
  if (!file.empty()) return gemm_operand<T>("B", file, k, n, random).transpose();
  constexpr Eigen::Index kRows = 64, kApart = 64;
  Matrix<T> weights(n, k);
  Matrix<T> rows(kRows, n + kApart);
  for (Eigen::Index first = 0; first < k; first += kRows) {
    const Eigen::Index some = std::min<Eigen::Index>(kRows, k - first);
    for (Eigen::Index row = 0; row < some; ++row) {
      fill(&rows(row, 0), static_cast<std::size_t>(n), random);
    }
    weights.middleCols(first, some) = rows.topLeftCorner(some, n).transpose();
  }
  return weights;
}

template MatrixI8 gemm_operand(const char*, const std::string&, std::int64_t, std::int64_t,
                               MersenneTwister&);
template MatrixF gemm_operand(const char*, const std::string&, std::int64_t, std::int64_t,
                              MersenneTwister&);
template MatrixI8 gemm_weights(const std::string&, std::int64_t, std::int64_t, MersenneTwister&);
template MatrixF gemm_weights(const std::string&, std::int64_t, std::int64_t, MersenneTwister&);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace gemm64 {
namespace {

template <class T>
std::string shape_of(const Matrix<T>& matrix) {
  return std::to_string(matrix.rows()) + "x" + std::to_string(matrix.cols());
}

template <class T>
void require_same_shape(const char* function, const Matrix<T>& a, const Matrix<T>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    throw std::invalid_argument(std::string(function) + ": shapes differ: " + shape_of(a) +
                                " and " + shape_of(b));
  }
}

/// Nothing where a value is NaN: which is the largest, cannot be said.
std::optional<Eigen::Index> argmax(const MatrixF& matrix, Eigen::Index row) {
  Eigen::Index best = 0;
  for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
    if (std::isnan(matrix(row, c))) return std::nullopt;
    if (matrix(row, c) > matrix(row, best)) best = c;
  }
  return best;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double signal_to_noise_db(const MatrixF& reference, const MatrixF& approximation) {
  require_same_shape("signal_to_noise_db", reference, approximation);
  double signal = 0.0;
  double noise = 0.0;
  for (Eigen::Index i = 0; i < reference.size(); ++i) {
    const double expected = static_cast<double>(reference.data()[i]);
    const double found = static_cast<double>(approximation.data()[i]);
    if (std::isfinite(expected) && std::isfinite(found)) {
      signal += expected * expected;
      noise += (expected - found) * (expected - found);
    } else if (expected != found) {
      return -kInfinity;
    }
  }
  if (noise == 0.0) return kInfinity;
  return 10.0 * std::log10(signal / noise);
}

double top1_agreement(const MatrixF& a, const MatrixF& b) {
  require_same_shape("top1_agreement", a, b);
  if (a.size() == 0) throw std::invalid_argument("top1_agreement: the matrices are empty");
  Eigen::Index agreed = 0;
  for (Eigen::Index r = 0; r < a.rows(); ++r) {
    const std::optional<Eigen::Index> best = argmax(a, r);
    if (best && best == argmax(b, r)) ++agreed;
  }
  return static_cast<double>(agreed) / static_cast<double>(a.rows());
}

double max_abs_error(const MatrixF& a, const MatrixF& b) {
  require_same_shape("max_abs_error", a, b);
  double largest = 0.0;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    if (a.data()[i] == b.data()[i]) continue;  // infinities too
    const double error =
        std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]));
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

Mismatches compare(const MatrixI32& expected, const MatrixI32& found) {
  require_same_shape("compare", expected, found);
  Mismatches result;
  for (Eigen::Index r = 0; r < expected.rows(); ++r) {
    for (Eigen::Index c = 0; c < expected.cols(); ++c) {
      if (expected(r, c) == found(r, c)) continue;
      if (result.count == 0) {
        result.first_row = r;
        result.first_column = c;
        result.expected = expected(r, c);
        result.found = found(r, c);
      }
      ++result.count;
      const std::int64_t error =
          static_cast<std::int64_t>(expected(r, c)) - static_cast<std::int64_t>(found(r, c));
      result.max_abs_error = std::max(result.max_abs_error, error < 0 ? -error : error);
    }
  }
  return result;
}

}  // namespace gemm64

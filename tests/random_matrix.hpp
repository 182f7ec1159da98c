// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/numerics/matrix.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// rows × columns values from -128 to 127, drawn row after row.
inline MatrixI8 random_matrix(std::mt19937& random, std::uint64_t rows, std::uint64_t columns) {
  MatrixI8 matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  for (Eigen::Index i = 0; i < matrix.size(); ++i) {
    matrix.data()[i] = static_cast<std::int8_t>(random() & 0xffu);
  }
  return matrix;
}

}  // namespace gemm64

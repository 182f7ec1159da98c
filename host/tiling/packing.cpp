// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace gemm64 {
namespace {

void check_shape(const char* what, const MatrixI8& matrix, std::uint64_t rows,
                 std::uint64_t columns) {
  if (static_cast<std::uint64_t>(matrix.rows()) != rows ||
      static_cast<std::uint64_t>(matrix.cols()) != columns) {
    throw std::invalid_argument(fmt::format("{} are {}x{}, the plan is for {}x{}", what,
                                            matrix.rows(), matrix.cols(), rows, columns));
  }
}

/// Copies columns [tile * array, ...) of one row; what lies outside the matrix stays as it is.
void copy_word(std::uint8_t* word, const MatrixI8& matrix, std::uint64_t row, std::uint64_t tile,
               std::uint64_t array) {
  const std::uint64_t columns = static_cast<std::uint64_t>(matrix.cols());
  const std::uint64_t first = tile * array;
  std::memcpy(word, matrix.data() + row * columns + first, std::min(array, columns - first));
}

}  // namespace

std::vector<std::uint8_t> pack_weights(const Plan& plan, const MatrixI8& weights) {
  check_shape("weights", weights, plan.shape.n, plan.shape.k);
  const std::uint64_t array = plan.array;
  std::vector<std::uint8_t> packed(plan.weight_bytes());
  for (std::uint64_t n_tile = 0; n_tile < plan.n_tiles; ++n_tile) {
    const std::uint64_t columns = std::min(array, plan.shape.n - n_tile * array);
    for (std::uint64_t k_tile = 0; k_tile < plan.k_tiles; ++k_tile) {
      std::uint8_t* tile = packed.data() + (n_tile * plan.k_tiles + k_tile) * array * array;
      for (std::uint64_t column = 0; column < columns; ++column) {
        copy_word(tile + column * array, weights, n_tile * array + column, k_tile, array);
      }
    }
  }
  return packed;
}

std::vector<std::uint8_t> pack_activations(const Plan& plan, const MatrixI8& activations) {
  check_shape("activations", activations, plan.shape.m, plan.shape.k);
  const std::uint64_t array = plan.array;
  std::vector<std::uint8_t> packed(plan.activation_bytes());
  std::uint8_t* word = packed.data();
  for (const RowGroup& group : plan.groups) {
    for (std::uint64_t block = 0; block < group.blocks; ++block) {
      const std::uint64_t first = group.first_row + block * group.rows;
      for (std::uint64_t k_tile = 0; k_tile < plan.k_tiles; ++k_tile) {
        for (std::uint64_t row = 0; row < group.rows; ++row, word += array) {
          copy_word(word, activations, first + row, k_tile, array);
        }
      }
    }
  }
  return packed;
}

MatrixI32 unpack_results(const Plan& plan, const std::vector<std::int32_t>& results) {
  if (results.size() * 4 != plan.result_bytes()) {
    throw std::invalid_argument(
        fmt::format("{} results, the plan gives {}", results.size(), plan.result_bytes() / 4));
  }
  const std::uint64_t array = plan.array;
  const std::uint64_t parts = plan.result_blocks() / plan.n_tiles;  // blocks to be added
  // Sums wrap modulo 2^32 in unsigned arithmetic, where that is defined.
  Matrix<std::uint32_t> sums = Matrix<std::uint32_t>::Zero(static_cast<Eigen::Index>(plan.shape.m),
                                                           static_cast<Eigen::Index>(plan.shape.n));
  const std::int32_t* from = results.data();
  for (const RowGroup& group : plan.groups) {
    for (std::uint64_t block = 0; block < group.blocks; ++block) {
      const std::uint64_t first = group.first_row + block * group.rows;
      for (std::uint64_t n_tile = 0; n_tile < plan.n_tiles; ++n_tile) {
        const std::uint64_t columns = std::min(array, plan.shape.n - n_tile * array);
        for (std::uint64_t part = 0; part < parts; ++part) {
          for (std::uint64_t row = 0; row < group.rows; ++row, from += array) {
            std::uint32_t* to = sums.data() + (first + row) * plan.shape.n + n_tile * array;
            for (std::uint64_t column = 0; column < columns; ++column) {
              to[column] += static_cast<std::uint32_t>(from[column]);
            }
          }
        }
      }
    }
  }
  return sums.cast<std::int32_t>();
}

}  // namespace gemm64

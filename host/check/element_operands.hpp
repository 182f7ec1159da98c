// SPDX-License-Identifier: Apache-2.0
// What is multiplied with what for one element of a job's results, from the definition of a product
// and of a convolution.
#pragma once

#include <cstdint>
#include <optional>

#include "host/check/finding.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/tile_walk.hpp"

namespace gemm64 {

/// Operands of the element in one column of results: those of tile k, row r of the array.
class ElementOperands {
 public:
  /// Of C[row, column]; job and operands outlive it.
  ElementOperands(const Job& job, const MatrixI8& a, const MatrixI8& w, std::uint64_t row,
                  std::uint64_t column)
      : plan_(job.plan), a_(a), w_(w), row_(row), column_(column) {}

  /// Nothing beyond the last column of A, where the weight is 0 and any activation may be.
  std::optional<std::int8_t> activation(const TileIndex& tile, unsigned array_row) const;
  std::int8_t weight(const TileIndex& tile, unsigned array_row) const;

  /// Of a convolution: what the tile's tap meets at the element's output pixel.
  std::optional<WindowPlace> place(const TileIndex& tile) const;

 private:
  std::uint64_t channel(const TileIndex& tile, unsigned array_row) const;

  const Plan& plan_;
  const MatrixI8& a_;
  const MatrixI8& w_;
  const std::uint64_t row_, column_;
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Products of one shape that share the tiles of a job: each has rows and columns of its own. The
// job computes all rows times all columns; a product's results are those in its rows and columns.
#pragma once

#include "host/numerics/matrix.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// How a plan's products, of a stack or the only one, are made of smaller ones: `together` of these
/// each, and `all` in the whole job; further rows and columns are padding.
struct SharedTiles {
  std::uint32_t together = 1;
  std::uint64_t all = 1;

  std::uint64_t rows_of_each(const Plan& plan) const { return plan.product_rows() / together; }
  std::uint64_t columns_of_each(const Plan& plan) const { return plan.shape.n / together; }
  std::uint64_t rows(const Plan& plan) const { return rows_of_each(plan) * all; }

  /// The smaller products' results [rows x columns of each] of those of the job [M x N].
  MatrixI32 own(const Plan& plan, const MatrixI32& results) const;
  /// The other way round: the job's results, with those of the smaller products in their place.
  MatrixI32 with_own(const Plan& plan, const MatrixI32& own, MatrixI32 results) const;
};

}  // namespace gemm64

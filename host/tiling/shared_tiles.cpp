// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/shared_tiles.hpp"

namespace gemm64 {
namespace {

/// Calls with the first row of each product, and its first column.
template <class Call>
void for_each_product(const SharedTiles& shared, const Plan& plan, Call call) {
  const auto rows = static_cast<Eigen::Index>(shared.rows_of_each(plan));
  const auto columns = static_cast<Eigen::Index>(shared.columns_of_each(plan));
  for (std::uint64_t product = 0; product < shared.all; ++product) {
    call(static_cast<Eigen::Index>(product) * rows,
         static_cast<Eigen::Index>(product % shared.together) * columns);
  }
}

}  // namespace

MatrixI32 SharedTiles::own(const Plan& plan, const MatrixI32& results) const {
  const auto each = static_cast<Eigen::Index>(rows_of_each(plan));
  MatrixI32 own(static_cast<Eigen::Index>(rows(plan)),
                static_cast<Eigen::Index>(columns_of_each(plan)));
  for_each_product(*this, plan, [&](Eigen::Index row, Eigen::Index column) {
    own.middleRows(row, each) = results.block(row, column, each, own.cols());
  });
  return own;
}

MatrixI32 SharedTiles::with_own(const Plan& plan, const MatrixI32& own, MatrixI32 results) const {
  const auto each = static_cast<Eigen::Index>(rows_of_each(plan));
  for_each_product(*this, plan, [&](Eigen::Index row, Eigen::Index column) {
    results.block(row, column, each, own.cols()) = own.middleRows(row, each);
  });
  return results;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/shared_tiles.hpp"

#include "host/tiling/job.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// Five products of 3 rows and 2 columns, three a tile: the sixth is padding.
class SharedTilesTest : public testing::Test {
 protected:
  SharedTilesTest() {
    Geometry geometry;
    geometry.n = 8;
    plan_ = make_job("y", {18, 4, 6}, Accumulate::kDevice, geometry, {}, 2).plan;
  }

  const SharedTiles shared_{3, 5};
  Plan plan_;
};

TEST_F(SharedTilesTest, PlacesRowsAndColumns) {
  EXPECT_EQ(shared_.rows_of_each(plan_), 3U);
  EXPECT_EQ(shared_.columns_of_each(plan_), 2U);
  EXPECT_EQ(shared_.rows(plan_), 15U);
  MatrixI32 results(18, 6);
  for (Eigen::Index i = 0; i < results.size(); ++i) {
    results.data()[i] = static_cast<std::int32_t>(i);
  }
  const MatrixI32 own = shared_.own(plan_, results);
  ASSERT_EQ(own.rows(), 15);
  ASSERT_EQ(own.cols(), 2);
  EXPECT_EQ(own(0, 0), results(0, 0));
  EXPECT_EQ(own(3, 1), results(3, 3));  // the second product
  EXPECT_EQ(own(8, 0), results(8, 4));  // the third
  EXPECT_EQ(own(9, 0), results(9, 0));  // the fourth begins the next tile
  EXPECT_EQ(own(14, 1), results(14, 3));
}

TEST_F(SharedTilesTest, PutsOwnResultsAmongTheOthers) {
  const MatrixI32 zeros = MatrixI32::Zero(18, 6);
  const MatrixI32 own = MatrixI32::Ones(15, 2);
  const MatrixI32 all = shared_.with_own(plan_, own, zeros);
  EXPECT_EQ(all.sum(), 30);
  EXPECT_EQ(shared_.own(plan_, all), own);
  EXPECT_EQ(all.bottomRows(3).sum(), 0);  // padding
}

}  // namespace
}  // namespace gemm64

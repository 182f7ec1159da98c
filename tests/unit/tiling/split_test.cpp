// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/split.hpp"

#include <gtest/gtest.h>

#include <random>

#include "host/device/reference_device.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/reference.hpp"
#include "host/tiling/packing.hpp"
#include "tests/random_matrix.hpp"

namespace gemm64 {
namespace {

Geometry small() {
  Geometry geometry;
  geometry.n = 8;
  geometry.accumulator_rows = 16;
  return geometry;
}

TEST(Split, PartsOnDevicesOfTheirOwnJoinToTheWholeProduct) {
  std::mt19937 random(1);
  const MatrixI8 a = random_matrix(random, 53, 20);
  const MatrixI8 w = random_matrix(random, 43, 20);
  const Job job = make_job("fc", {53, 20, 43}, Accumulate::kDevice, small());
  for (const SplitAxis axis : {SplitAxis::kRows, SplitAxis::kColumns}) {
    for (const std::uint32_t count : {1u, 2u, 3u, 4u, 100u}) {
      const std::vector<JobPart> parts = split(job, axis, count, small());
      std::vector<MatrixI32> sums;
      for (const JobPart& part : parts) {
        ReferenceDevice device(small(), std::uint64_t{1} << 20);
        Driver driver(device);
        sums.push_back(driver
                           .run(part.job, pack_weights(part.job, part_of_weights(part, w)),
                                part_of_activations(part, a))
                           .sums);
      }
      EXPECT_EQ(join(job, parts, sums), reference_gemm(a, w)) << count << " parts";
    }
  }
}

TEST(Split, CutsBetweenBlocksAndTilesAsEvenlyAsCanBe) {
  const Job job = make_job("fc", {53, 20, 43}, Accumulate::kDevice, small());  // 4 blocks, 6 tiles
  const std::vector<JobPart> rows = split(job, SplitAxis::kRows, 3, small());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].first_row, rows[0].job.plan.shape.m);
  EXPECT_EQ(rows[2].first_row + rows[2].job.plan.shape.m, 53u);
  EXPECT_EQ(rows[0].job.name, "fc[0]");
  const std::vector<JobPart> columns = split(job, SplitAxis::kColumns, 4, small());
  ASSERT_EQ(columns.size(), 4u);
  for (const JobPart& part : columns) {
    EXPECT_EQ(part.first_column % 8, 0u);
    EXPECT_EQ(part.first_row, 0u);
    EXPECT_EQ(part.job.plan.shape.m, 53u);
  }
  EXPECT_EQ(split(job, SplitAxis::kRows, 100, small()).size(), 4u);
  EXPECT_EQ(split(job, SplitAxis::kColumns, 100, small()).size(), 6u);
  EXPECT_THROW(split(job, SplitAxis::kRows, 0, small()), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64

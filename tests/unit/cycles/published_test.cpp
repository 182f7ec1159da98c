// SPDX-License-Identifier: Apache-2.0
// The figures that others publish for AlexNet's Linear layers on an array of 64x64.
#include "host/cycles/published.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr GemmShape kClassifier1{64, 9216, 4096}, kClassifier4{64, 4096, 4096},
    kClassifier6{64, 4096, 1000};

GemmShape with_rows(GemmShape shape, std::uint64_t rows) {
  shape.m = rows;
  return shape;
}

TEST(Published, ScaleSimOutputStationary) {
  EXPECT_EQ(published_cycles(kClassifier1, 64).scale_sim_os, 597'887u);
  EXPECT_EQ(published_cycles(kClassifier4, 64).scale_sim_os, 270'207u);
  EXPECT_EQ(published_cycles(kClassifier6, 64).scale_sim_os, 67'551u);
}

TEST(Published, ScaleSimWeightStationaryOfOneRow) {
  EXPECT_EQ(published_cycles(with_rows(kClassifier1, 1), 64).scale_sim_ws, 1'760'255u);
  EXPECT_EQ(published_cycles(with_rows(kClassifier4, 1), 64).scale_sim_ws, 782'335u);
  EXPECT_EQ(published_cycles(with_rows(kClassifier6, 1), 64).scale_sim_ws, 195'583u);
}

TEST(Published, ScaleSimWeightStationaryOf64Rows) {
  EXPECT_EQ(published_cycles(kClassifier1, 64).scale_sim_ws, 2'340'863u);
  EXPECT_EQ(published_cycles(kClassifier4, 64).scale_sim_ws, 1'040'383u);
  EXPECT_EQ(published_cycles(kClassifier6, 64).scale_sim_ws, 260'095u);
}

TEST(Published, DoubleBufferedWsUpTo64Rows) {
  for (const std::uint64_t rows : {1, 2, 63, 64}) {
    EXPECT_EQ(published_cycles(with_rows(kClassifier1, rows), 64).double_buffered, 590'014u);
    EXPECT_EQ(published_cycles(with_rows(kClassifier4, rows), 64).double_buffered, 262'334u);
    EXPECT_EQ(published_cycles(with_rows(kClassifier6, rows), 64).double_buffered, 65'726u);
  }
}

TEST(Published, TotalsOfTheThreeLayers) {
  PublishedCycles total;
  std::uint64_t ws_of_one_row = 0, macs = 0;
  for (const GemmShape& shape : {kClassifier1, kClassifier4, kClassifier6}) {
    const PublishedCycles layer = published_cycles(shape, 64);
    total.scale_sim_os += layer.scale_sim_os;
    total.scale_sim_ws += layer.scale_sim_ws;
    total.double_buffered += layer.double_buffered;
    ws_of_one_row += published_cycles(with_rows(shape, 1), 64).scale_sim_ws;
    macs += shape.macs();
  }
  EXPECT_EQ(macs, 3'751'804'928u);
  EXPECT_EQ(total.scale_sim_os, 935'645u);
  EXPECT_EQ(total.scale_sim_ws, 3'641'341u);
  EXPECT_EQ(ws_of_one_row, 2'738'173u);
  EXPECT_EQ(total.double_buffered, 918'074u);
}

// T(R + M) + R + C - 2, by hand for two tiles: 2 * (4 + 3) + 6.
TEST(Published, SingleBufferedWeightStationary) {
  EXPECT_EQ(published_cycles({3, 8, 4}, 4).single_buffered, 20u);
  EXPECT_EQ(published_cycles(kClassifier1, 64).single_buffered, 9216u * 128 + 126);
}

// Two groups of 4 columns each, by hand: as two products of 3 x 8 x 4.
TEST(Published, GroupsAreProductsOneAfterTheOther) {
  const PublishedCycles one = published_cycles({3, 8, 4}, 4);
  const PublishedCycles two = published_cycles({3, 8, 8}, 4, 2);
  EXPECT_EQ(two.scale_sim_os, 2 * one.scale_sim_os);
  EXPECT_EQ(two.scale_sim_ws, 2 * one.scale_sim_ws);
  EXPECT_EQ(two.single_buffered, 2 * one.single_buffered);
  EXPECT_EQ(two.double_buffered, 2 * one.double_buffered);
}

TEST(Published, AddsProductsOfAStack) {
  Geometry geometry;
  geometry.n = 4;
  const PublishedCycles one = published_cycles({3, 8, 5}, 4);
  const PublishedCycles two =
      published_cycles(make_plan({6, 8, 5}, Accumulate::kDevice, geometry, {}, 2));
  EXPECT_EQ(two.scale_sim_os, 2 * one.scale_sim_os);
  EXPECT_EQ(two.scale_sim_ws, 2 * one.scale_sim_ws);
  EXPECT_EQ(two.single_buffered, 2 * one.single_buffered);
  EXPECT_EQ(two.double_buffered, 2 * one.double_buffered);
}

TEST(Published, CountsPartialTilesAsWholeOnes) {
  const PublishedCycles ragged = published_cycles({5, 9, 5}, 4);  // 2 x 3 x 2 blocks
  EXPECT_EQ(ragged.scale_sim_os, 2u * 2 * (9 + 6) - 1);
  EXPECT_EQ(ragged.scale_sim_ws, 3u * 2 * (5 + 10) - 1);
  EXPECT_EQ(ragged.single_buffered, 6u * (4 + 5) + 6);
  EXPECT_EQ(ragged.double_buffered, 4u + 6 * 5 + 6);
}

}  // namespace
}  // namespace gemm64

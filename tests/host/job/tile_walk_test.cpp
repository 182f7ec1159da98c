// SPDX-License-Identifier: Apache-2.0
#include "host/job/tile_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "host/debug/tile_trace.hpp"
#include "host/error.hpp"

namespace gemm64 {
namespace {

Geometry small() {
  Geometry geometry;
  geometry.n = 8;
  geometry.accumulator_rows = 16;
  return geometry;
}

TEST(TileWalk, GoesThroughEveryRowOfEveryTileInOrder) {
  const Plan plan =
      make_plan({35, 20, 9}, Accumulate::kDevice, small());  // 3 blocks of M: 12, 12, 11
  std::uint64_t rows = 0;
  std::uint64_t before = 0;
  std::set<std::uint64_t> results;
  for (TileWalk walk(plan); !walk.done(); walk.next()) {
    const TileRow& row = walk.row();
    const std::uint64_t order =
        ((row.tile.m * plan.n_tiles + row.tile.n) * plan.k_tiles + row.tile.k) * 100 + row.row;
    EXPECT_TRUE(rows == 0 || order > before);
    before = order;
    EXPECT_LT(row.row, row.rows);
    EXPECT_EQ(row.first, row.tile.k == 0);
    EXPECT_EQ(row.result, row.tile.m * plan.n_tiles + row.tile.n);
    EXPECT_EQ(row.bank(), row.result % 2);
    results.insert(row.result);
    ++rows;
  }
  EXPECT_EQ(rows, 35u * plan.tiles());
  EXPECT_EQ(results.size(), plan.row_blocks() * plan.result_blocks());
}

TEST(TileWalk, KnowsWhereBlocksBeginAndWhatIsStoredBefore) {
  const Plan plan = make_plan({35, 20, 9}, Accumulate::kHost, small());
  TileWalk walk(plan);
  std::uint64_t stored = 0;
  std::uint64_t tiles = 0;
  while (!walk.done()) {
    EXPECT_EQ(walk.row().stored_before, stored);
    EXPECT_EQ(walk.row().result, tiles);
    EXPECT_TRUE(walk.row().first);
    EXPECT_EQ(walk.row().first_row, walk.row().tile.m == 0   ? 0u
                                    : walk.row().tile.m == 1 ? 12u
                                                             : 24u);
    stored += walk.row().rows;
    ++tiles;
    walk.skip_tile();
  }
  EXPECT_EQ(tiles, plan.tiles() * plan.row_blocks());
  EXPECT_EQ(stored, 35u * plan.tiles());
}

TEST(TileName, IsALayerAndThreeCoordinates) {
  const TileName name = parse_tile("/features/fc:1:0,17,3");
  EXPECT_EQ(name.layer, "/features/fc:1");
  EXPECT_EQ(name.tile, (Tile{0, 17, 3}));
  EXPECT_EQ(parse_tile("4,5,6").layer, "");
  EXPECT_EQ(parse_tile("4,5,6").tile, (Tile{4, 5, 6}));
}

TEST(TileName, OfAnotherFormIsRefused) {
  for (const char* text :
       {"", "a", "a:", "a:1", "a:1,2", "a:1,2,3,4", "a:1,2,x", ":1,2,3", "a:-1,2,3", "a:1, 2,3"}) {
    EXPECT_THROW(parse_tile(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace gemm64

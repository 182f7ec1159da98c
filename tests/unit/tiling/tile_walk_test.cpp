// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/tile_walk.hpp"

#include "host/check/tile_trace.hpp"
#include "host/tiling/program_walk.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

Geometry small() {
  Geometry geometry;
  geometry.n = 8;
  geometry.accumulator_rows = 16;
  return geometry;
}

TEST(RowWalk, GoesThroughEveryRowOfEveryTileInOrder) {
  // 3 blocks of M: 12, 12, 11
  const Job job = make_job("walked", {35, 20, 9}, Accumulate::kDevice, small());
  const Plan& plan = job.plan;
  std::uint64_t rows = 0;
  std::uint64_t before = 0;
  std::set<std::uint64_t> results;
  for (RowWalk walk(job); !walk.done(); walk.next()) {
    const TileStep& step = walk.tile();
    const TileIndex& tile = step.tile;
    const std::uint64_t order =
        ((tile.m * plan.n_tiles + tile.n) * plan.k_tiles + tile.k) * 100 + walk.row();
    EXPECT_TRUE(rows == 0 || order > before);
    before = order;
    EXPECT_LT(walk.row(), step.rows);
    EXPECT_EQ(walk.first_row(), walk.row() == 0);
    EXPECT_EQ(walk.last_row(), walk.row() + 1 == step.rows);
    EXPECT_EQ(step.begins_block, tile.k == 0);
    EXPECT_EQ(step.ends_block, tile.k + 1 == plan.k_tiles);
    EXPECT_EQ(step.result, tile.m * plan.n_tiles + tile.n);
    EXPECT_EQ(step.bank(), step.result % 2);
    results.insert(step.result);
    ++rows;
  }
  EXPECT_EQ(rows, 35u * plan.tiles());
  EXPECT_EQ(results.size(), plan.row_blocks() * plan.result_blocks());
}

TEST(TileWalk, FindsTheTileOfACommand) {
  const Job job = make_job("walked", {35, 20, 9}, Accumulate::kDevice, small());
  // Every tile, by the commands and their numbers in them
  std::size_t tiles = 0;
  std::size_t command = 0;
  std::uint64_t number = 0;
  for (TileWalk walk(job); !walk.done(); walk.next(), ++number, ++tiles) {
    if (walk.command() != command) number = 0;
    command = walk.command();
    ASSERT_EQ(job.program.at(command).opcode, Opcode::kMatmul);
    EXPECT_EQ(tile_of(job, command, number), walk.tile().tile);
  }
  EXPECT_EQ(tiles, job.plan.row_blocks() * job.plan.tiles());
  EXPECT_EQ(tile_of(job, command, number), std::nullopt);  // after its last one
  EXPECT_EQ(tile_of(job, 0, 0), std::nullopt);             // a load
  EXPECT_EQ(tile_of(job, job.program.size(), 0), std::nullopt);
}

TEST(TileWalk, KnowsBlockStartsAndEarlierStores) {
  const Job job = make_job("walked", {35, 20, 9}, Accumulate::kHost, small());
  const Plan& plan = job.plan;
  TileWalk walk(job);
  std::uint64_t stored = 0;
  std::uint64_t tiles = 0;
  while (!walk.done()) {
    const TileStep& step = walk.tile();
    EXPECT_EQ(step.stored_before, stored);
    EXPECT_EQ(step.result, tiles);
    EXPECT_TRUE(step.begins_block);
    EXPECT_TRUE(step.ends_block);
    EXPECT_EQ(step.first_row, 12 * step.tile.m);
    stored += step.rows;
    ++tiles;
    walk.next();
  }
  EXPECT_EQ(tiles, plan.tiles() * plan.row_blocks());
  EXPECT_EQ(stored, 35u * plan.tiles());
}

TEST(TileWalk, MeetsEveryTapOfAWindow) {
  Convolution c;
  c.channels = c.out_channels = 20;
  c.height = c.width = c.out_height = c.out_width = 9;
  c.kernel_height = 5;
  c.kernel_width = 3;
  c.pad_top = 2;
  c.pad_left = 1;
  const Job job = make_job("walked", c, small(), Output{ResultFormat(ResultCode::kInt8)});
  const Plan& plan = job.plan;
  std::uint64_t tiles = 0;
  for (TileWalk walk(job); !walk.done(); walk.next()) ++tiles;
  EXPECT_EQ(plan.k_tiles, 3u * 15);
  EXPECT_EQ(tiles, plan.tiles() * plan.row_blocks());
}

// Bands; in each the passes; in each its blocks.
TEST(TileWalk, MeetsEachTileOfBandsOnce) {
  Geometry geometry = small();
  geometry.weight_tiles = 16;
  geometry.scratchpad_words = 100;
  Convolution c;
  c.images = c.groups = 1;
  c.channels = 8;
  c.out_channels = 136;
  c.height = c.width = c.out_height = c.out_width = 13;
  c.kernel_height = c.kernel_width = c.stride_height = c.stride_width = 1;
  c.dilation_height = c.dilation_width = 1;
  Job job = make_job("walked", c, geometry);
  job.plan.window->strips[0].plan.band = 4;
  job.program = make_program(job.plan, job.layout);
  const Plan& plan = job.plan;
  ASSERT_TRUE(plan.has_bands());
  ASSERT_GT(plan.window->bands(), 1u);
  const std::uint32_t band = plan.window->strips[0].plan.band;
  std::vector<std::uint64_t> order;
  std::set<std::uint64_t> rows;
  for (TileWalk walk(job); !walk.done(); walk.next()) {
    const TileStep& step = walk.tile();
    const TileIndex& tile = step.tile;
    order.push_back(
        ((tile.m / band * plan.n_tiles + tile.n) * band + tile.m % band) * plan.k_tiles + tile.k);
    EXPECT_EQ(step.begins_block, tile.k == 0);
    if (step.ends_block) {
      for (std::uint64_t row = 0; row < step.rows; ++row) {
        EXPECT_TRUE(rows.insert(tile.n * 1000 + step.first_row + row).second);
      }
    }
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), plan.tiles() * plan.row_blocks());
  EXPECT_EQ(rows.size(), 13u * 13 * plan.n_tiles);
}

TEST(TileWalk, CountsDepthwiseLayerAsOneTile) {
  Convolution c;
  c.channels = c.out_channels = c.groups = 20;
  c.images = 1;
  c.height = c.width = c.out_height = c.out_width = 6;
  c.kernel_height = c.kernel_width = 3;
  c.pad_top = c.pad_left = 1;
  c.stride_height = c.stride_width = c.dilation_height = c.dilation_width = 1;
  const Job job = make_lanes_job("walked", c, small()).value();
  TileWalk walk(job);
  ASSERT_FALSE(walk.done());
  EXPECT_EQ(job.program.at(walk.command()).opcode, Opcode::kDepthwise);
  EXPECT_EQ(walk.tile().rows, job.plan.lanes->cycles());
  EXPECT_TRUE(walk.tile().begins_block && walk.tile().ends_block);
  EXPECT_EQ(walk.tile().result, 0U);
  walk.next();
  EXPECT_TRUE(walk.done());
}

// Strips are commands of their own; each counts the blocks of sums of those before it.
TEST(TileWalk, CountsTheBlocksOfAllImagesOnTheLanes) {
  Convolution c;
  c.channels = c.out_channels = c.groups = 8;
  c.images = 3;
  c.height = c.out_height = 5;
  c.width = c.out_width = 400;
  c.kernel_height = c.kernel_width = 3;
  c.pad_top = c.pad_left = 1;
  c.stride_height = c.stride_width = c.dilation_height = c.dilation_width = 1;
  const Job job = make_lanes_job("walked", c, small()).value();
  ASSERT_GT(job.plan.lanes->strips.size(), 2U);
  std::uint64_t blocks = 0;
  for (TileWalk walk(job); !walk.done(); walk.next()) {
    EXPECT_EQ(walk.tile().result, blocks);
    const DepthwiseCommand command(job.program.at(walk.command()));
    ASSERT_EQ(command.rows, command.out_width) << "a block is a row of a strip";
    blocks += std::uint64_t{5} * 3;
  }
  EXPECT_EQ(blocks, 15 * job.plan.lanes->strips.size());
}

/// Three convolutions whose maps exceed the tensor memory.
JobProgram program_in_stripes() {
  Geometry geometry = small().with_tensor_memory();
  geometry.tensor_words = 400;
  Convolution c;
  c.channels = c.out_channels = 8;
  c.height = c.width = c.out_height = c.out_width = 24;
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < 3; ++i) {
    c.kernel_height = c.kernel_width = i == 1 ? 3 : 1;
    c.pad_top = c.pad_left = i == 1 ? 1 : 0;
    jobs.push_back(make_job("layer", c, geometry, output));
    if (i != 0) jobs.back().source = i - 1;
    jobs.back().internal = i != 2;
  }
  return make_job_program(jobs, geometry);
}

TEST(ProgramWalk, TakesTheStripesOfAChainInTurn) {
  const JobProgram list = program_in_stripes();
  ASSERT_EQ(list.stripes.size(), 1U);
  ASSERT_GT(list.jobs.back().stripes.size(), 1U);
  using Place = std::pair<TileIndex, std::uint64_t>;  // a tile, a row of the results
  std::vector<std::vector<Place>> met(list.jobs.size());
  std::vector<std::size_t> turns;
  std::uint64_t block = 0;
  for (ProgramWalk walk(list); !walk.done(); walk.next()) {
    const std::size_t job = walk.job();
    if (turns.empty() || turns.back() != job) turns.push_back(job);
    met[job].push_back({walk.tile().tile, walk.tile().first_row + walk.row()});
    EXPECT_EQ(walk.block(), block);
    if (walk.last_row() && walk.tile().ends_block) ++block;
  }
  // A turn of each job for each stripe
  ASSERT_EQ(turns.size(), 3 * list.jobs.back().stripes.size());
  for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i], i % 3);
  for (std::size_t job = 0; job < met.size(); ++job) {
    const Plan& plan = list.jobs[job].plan;
    const TileIndex counts = tile_counts(list.jobs[job]);
    EXPECT_GT(counts.m, 1U);
    std::vector<std::uint64_t> rows(plan.shape.m);
    std::uint64_t most = 0;
    for (const auto& [tile, row] : met[job]) {
      ASSERT_LT(row, rows.size());
      ++rows[row];
      EXPECT_GE(tile.m, most);
      most = tile.m;
    }
    EXPECT_EQ(most + 1, counts.m);
    // Those at a border of stripes again, but for the last job, whose map is written once.
    for (const std::uint64_t times : rows) {
      EXPECT_EQ(times % plan.tiles(), 0U);
      EXPECT_GE(times, plan.tiles());
      if (job + 1 == met.size()) EXPECT_EQ(times, plan.tiles());
    }
  }
}

TEST(RowWalk, SkipsTheRestOfATile) {
  const Job job = make_job("walked", {35, 20, 9}, Accumulate::kDevice, small());
  RowWalk walk(job);
  walk.next();
  ASSERT_EQ(walk.row(), 1U);
  walk.skip_tile();
  EXPECT_EQ(walk.row(), 0U);
  EXPECT_EQ(walk.tile().tile, (TileIndex{0, 1, 0}));
}

TEST(TileName, IsALayerAndThreeCoordinates) {
  const TileName name = parse_tile("/features/fc:1:0,17,3");
  EXPECT_EQ(name.layer, "/features/fc:1");
  EXPECT_EQ(name.tile, (TileIndex{0, 17, 3}));
  EXPECT_EQ(parse_tile("4,5,6").layer, "");
  EXPECT_EQ(parse_tile("4,5,6").tile, (TileIndex{4, 5, 6}));
}

TEST(TileName, OfAnotherFormIsRefused) {
  for (const char* text :
       {"", "a", "a:", "a:1", "a:1,2", "a:1,2,3,4", "a:1,2,x", ":1,2,3", "a:-1,2,3", "a:1, 2,3"}) {
    EXPECT_THROW(parse_tile(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace gemm64

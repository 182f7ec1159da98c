// SPDX-License-Identifier: Apache-2.0
// Where convolutions of a program begin before the one ahead of them has ended.
#include "host/tiling/overlap.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/tiling/job_program.hpp"
#include "host/tiling/window_cut.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/known_programs.hpp"

namespace gemm64 {
namespace {

std::optional<Overlap> overlap(const Convolution& before, const Convolution& after) {
  const Geometry geometry;
  return find_overlap(make_plan(before, geometry, kInt8), make_plan(after, geometry, kInt8),
                      geometry);
}

TEST(Overlap, SplitsLongLastBlocks) {
  const auto found = overlap(square(256, 56, 64), square(64, 56, 64, 3));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cut.block, 23u);  // of 25
  EXPECT_EQ(found->cut.tile, 0u);
  EXPECT_EQ(found->early_blocks, 22u);
  EXPECT_EQ(found->early_tiles, 0u);
}

TEST(Overlap, PartsTheTilesOfTheLastBlockButOne) {
  const auto found = overlap(square(192, 29, 192, 3), square(192, 29, 64, 3));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cut.block, 5u);  // of 7
  EXPECT_EQ(found->cut.tile, 1u) << "the rest takes longer than the way through memory";
  EXPECT_EQ(found->early_blocks, 4u);
  EXPECT_EQ(found->early_tiles, 1u);
}

TEST(Overlap, PartsTheLastTilesOfASingleBlock) {
  const auto found = overlap(square(2048, 7, 512), square(512, 7, 512, 3));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cut.block, 0u);
  EXPECT_GT(found->cut.tile, 0u);
  EXPECT_EQ(found->early_blocks, 0u);
  EXPECT_EQ(found->early_tiles, found->cut.tile);
}

TEST(Overlap, OfAMapsLastPartCountsThePartsBeforeIt) {
  const Geometry geometry;
  const Plan after = make_plan(square(512, 14, 64), geometry, kInt8);
  const auto of_part = [&](std::uint64_t first) {
    Output output = kInt8;
    output.part = ResultPart{first, 512};
    return find_overlap(make_plan(square(96, 14, 208, 3), geometry, output), after, geometry);
  };
  const auto last = of_part(256), shared = of_part(304);
  ASSERT_TRUE(last && shared);
  EXPECT_EQ(last->early_tiles, 4 + last->cut.tile);
  EXPECT_EQ(shared->early_tiles, 4 + shared->cut.tile) << "the tile that both share comes late";
}

TEST(Overlap, IsNoneWhereNothingIsReadyBeforeAll) {
  EXPECT_FALSE(overlap(square(64, 7, 64), square(64, 7, 64)));  // one block, one plane
}

TEST(Overlap, OfAProductIsThatOfTheSameConvolution) {
  const Geometry geometry;
  const Plan product = make_plan(GemmShape{49, 2048, 512}, Accumulate::kDevice, geometry, kInt8);
  const Plan after = make_plan(square(512, 7, 512, 3), geometry, kInt8);
  const auto found = find_overlap(product, after, geometry);
  const auto same = overlap(square(2048, 7, 512), square(512, 7, 512, 3));
  ASSERT_TRUE(found && same);
  EXPECT_EQ(found->cut.tile, same->cut.tile);
  EXPECT_EQ(found->early_tiles, same->early_tiles);
}

struct KnownOverlap {
  Convolution before, after;
  const char* found;
};

/// On the lanes where a group has one channel.
Plan plan_of(const Convolution& c) {
  const Geometry geometry;
  return c.groups == c.channels ? make_lanes_plan(c, geometry, kInt8).value()
                                : make_plan(c, geometry, kInt8);
}

Convolution depthwise(std::uint32_t channels, std::uint32_t size, std::uint32_t stride = 1) {
  return square(channels, size, channels, 3, stride, channels);
}

TEST(Overlap, MinimizesStallsOfBothUnits) {
  const KnownOverlap cases[] = {
      {depthwise(256, 14), square(256, 14, 64),
       "before block 0 of tile 3: 0 blocks, 3 tiles, 0 words"},
      {depthwise(128, 56), square(128, 56, 64),
       "before block 9 of tile 1: 8 blocks, 1 tiles, 0 words"},
      {depthwise(64, 56), square(64, 56, 64),
       "before block 14 of tile 0: 12 blocks, 0 tiles, 0 words"},
      {depthwise(512, 7), square(512, 7, 512),
       "before block 0 of tile 6: 0 blocks, 6 tiles, 0 words"},
      {depthwise(256, 28, 2), square(256, 14, 256),
       "before block 1 of tile 3: 1 blocks, 3 tiles, 0 words"},
      {square(128, 28, 384), depthwise(384, 28),
       "before block 6 of tile 1: 0 blocks, 0 tiles, 1456 words"},
      {square(64, 56, 128), depthwise(128, 56),
       "before block 23 of tile 0: 0 blocks, 0 tiles, 2886 words"},
      {square(64, 14, 384), depthwise(384, 14),
       "before block 1 of tile 2: 0 blocks, 0 tiles, 490 words"},
      {square(512, 7, 1024), depthwise(1024, 7),
       "before block 0 of tile 14: 0 blocks, 0 tiles, 686 words"},
      {depthwise(192, 28), depthwise(192, 28),
       "before block 4 of tile 1: 0 blocks, 0 tiles, 1232 words"},
      {square(256, 14, 256, 3), square(256, 14, 512, 3, 1, 2),
       "before block 1 of tile 2: 0 blocks, 2 tiles, 0 words"},
      {square(512, 7, 512, 3), square(512, 7, 512, 3, 1, 4),
       "before block 0 of tile 6: 0 blocks, 6 tiles, 0 words"},
  };
  for (const KnownOverlap& known : cases) {
    const auto found = find_overlap(plan_of(known.before), plan_of(known.after), Geometry{});
    const std::string reported =
        found ? fmt::format("before block {} of tile {}: {} blocks, {} tiles, {} words",
                            found->cut.block, found->cut.tile, found->early_blocks,
                            found->early_tiles, found->early_words)
              : "none";
    EXPECT_EQ(reported, known.found)
        << to_string(known.before) << " before " << to_string(known.after);
  }
}

TEST(ProgramsOfConvolutions, StoreAllWhereverSplit) {
  const Geometry geometry;
  std::vector<Job> jobs = {make_job("before", square(192, 29, 192, 3), geometry, kInt8),
                           make_job("after", square(192, 29, 64, 3), geometry, kInt8)};
  jobs[1].source = 0;
  const JobProgram list = make_job_program(jobs, geometry);
  std::vector<std::uint64_t> rows(2);
  std::size_t stores = 0;
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const Command& command = list.program[i];
    if (command.opcode != Opcode::kStore) continue;
    stores += list.origins[i].job == 0 ? 1 : 0;
    rows[list.origins[i].job] += std::uint64_t{command.rows} * command.count * command.blocks;
  }
  EXPECT_EQ(stores, 5U) << "a group of blocks more, and three for the parted one";
  EXPECT_EQ(rows, (std::vector<std::uint64_t>{29 * 29 * 3, 29 * 29}));
}

TEST(ProgramsOfConvolutions, TakeAboutTheirTiles) {
  const Geometry geometry;
  MemoryTiming memory;
  memory.latency = 100;
  for (const KnownProgram& known : kKnownPrograms) {
    std::vector<Job> jobs;
    std::uint64_t tiles = 0;
    for (const KnownLayer& layer : known.layers) {
      jobs.push_back(make_job("layer", layer.convolution, geometry, kInt8));
      jobs.back().source = layer.source;
      const WindowPlan& plan = jobs.back().plan.window->strips[0].plan;
      for (const WindowBlock& block : plan.blocks) tiles += block_cycles(plan, block);
    }
    const Counters counters =
        predict_counters(make_job_program(jobs, geometry).program, geometry, memory);
    EXPECT_EQ(counters[counter::kTotalClocks] - tiles, known.overhead) << known.name;
  }
}

}  // namespace
}  // namespace gemm64

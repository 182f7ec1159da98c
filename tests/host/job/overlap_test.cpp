// SPDX-License-Identifier: Apache-2.0
// Where convolutions of a program begin before the one ahead of them has ended.
#include "host/job/overlap.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/cycles/cycle_model.hpp"
#include "host/job/job_program.hpp"
#include "host/job/window_cut.hpp"
#include "tests/host/job/known_programs.hpp"

namespace gemm64 {
namespace {

constexpr Output kInt8{ResultFormat(ResultCode::kInt8), 0, -128, 127};

std::optional<Overlap> overlap(const Convolution& before, const Convolution& behind) {
  const Geometry geometry;
  return find_overlap(make_plan(before, geometry, kInt8), make_plan(behind, geometry, kInt8),
                      geometry);
}

TEST(Overlap, PartsTheLastBlocksWhereTheyTakeLongEnough) {
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
  EXPECT_EQ(found->cut.tile, 1u) << "what is behind takes longer than the way through memory";
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
  const Plan behind = make_plan(square(512, 14, 64), geometry, kInt8);
  const auto of_part = [&](std::uint64_t first) {
    Output output = kInt8;
    output.part = ResultPart{first, 512};
    return find_overlap(make_plan(square(96, 14, 208, 3), geometry, output), behind, geometry);
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
  const Plan behind = make_plan(square(512, 7, 512, 3), geometry, kInt8);
  const auto found = find_overlap(product, behind, geometry);
  const auto same = overlap(square(2048, 7, 512), square(512, 7, 512, 3));
  ASSERT_TRUE(found && same);
  EXPECT_EQ(found->cut.tile, same->cut.tile);
  EXPECT_EQ(found->early_tiles, same->early_tiles);
}

TEST(ProgramsOfConvolutions, HardlyTakeMoreThanTheirTiles) {
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
      for (const WindowBlock& block : plan.blocks) tiles += block_clocks(plan, block);
    }
    const Counters counters =
        predict_counters(make_job_program(jobs, geometry).program, geometry, memory);
    EXPECT_EQ(counters[counter::kTotalClocks] - tiles, known.overhead) << known.name;
  }
}

}  // namespace
}  // namespace gemm64

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

namespace gemm64 {
namespace {

constexpr Output kInt8{ResultFormat(ResultCode::kInt8), 0, -128, 127};

Convolution square(std::uint32_t channels, std::uint32_t size, std::uint32_t out_channels,
                   std::uint32_t kernel = 1, std::uint32_t groups = 1) {
  Convolution c;
  c.channels = channels;
  c.out_channels = out_channels;
  c.groups = groups;
  c.height = c.width = c.out_height = c.out_width = size;
  c.kernel_height = c.kernel_width = kernel;
  c.pad_top = c.pad_left = (kernel - 1) / 2;
  return c;
}

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

struct Layer {
  Convolution convolution;
  std::optional<std::size_t> source;
};

/// Clocks beyond those of the tiles alone, a memory of latency 100 behind it.
std::uint64_t overhead(const std::vector<Layer>& layers) {
  const Geometry geometry;
  std::vector<Job> jobs;
  std::uint64_t tiles = 0;
  for (const Layer& layer : layers) {
    jobs.push_back(make_job("layer", layer.convolution, geometry, kInt8));
    jobs.back().source = layer.source;
    const WindowPlan& plan = jobs.back().plan.window->strips[0].plan;
    for (const WindowBlock& block : plan.blocks) tiles += block_clocks(plan, block);
  }
  MemoryTiming memory;
  memory.latency = 100;
  const Counters counters =
      predict_counters(make_job_program(jobs, geometry).program, geometry, memory);
  return counters[counter::kTotalClocks] - tiles;
}

// A program starts and ends once, a block takes a clock, and where a layer ends and the next begins
// the array hardly waits.
TEST(ProgramsOfConvolutions, HardlyTakeMoreThanTheirTiles) {
  EXPECT_EQ(
      overhead({{square(256, 56, 64), {}}, {square(64, 56, 64, 3), 0}, {square(64, 56, 256), 1}}),
      1174u);  // ResNet-50; 75 blocks
  EXPECT_EQ(
      overhead(
          {{square(1024, 14, 256), {}}, {square(256, 14, 256, 3), 0}, {square(256, 14, 1024), 1}}),
      745u);
  EXPECT_EQ(
      overhead(
          {{square(2048, 7, 512), {}}, {square(512, 7, 512, 3), 0}, {square(512, 7, 2048), 1}}),
      607u);
  EXPECT_EQ(
      overhead(
          {{square(64, 14, 384), {}}, {square(384, 14, 384, 3, 384), 0}, {square(384, 14, 64), 1}}),
      728u);  // MobileNetV2
  EXPECT_EQ(overhead({{square(192, 13, 384, 3), {}},
                      {square(384, 13, 256, 3), 0},
                      {square(256, 13, 256, 3), 1}}),
            732u);  // AlexNet
}

TEST(ProgramsOfConvolutions, OfBranchesShareAStart) {
  EXPECT_EQ(overhead({{square(832, 7, 192), {}},
                      {square(832, 7, 48), {}},
                      {square(832, 7, 384), {}},
                      {square(832, 7, 128), {}},
                      {square(192, 7, 384, 3), 0},
                      {square(48, 7, 128, 5), 1}}),
            519u);  // GoogLeNet
}

}  // namespace
}  // namespace gemm64

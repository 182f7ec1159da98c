// SPDX-License-Identifier: Apache-2.0
// Pools of whole maps as commands of the lanes, and what STOREs read where each image of a batch
// has a second operand.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "host/device/commands.hpp"
#include "host/device/depthwise.hpp"
#include "host/job/job_commands.hpp"
#include "host/job/lanes_cut.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kColumns = 4;

Geometry small() {
  Geometry geometry;
  geometry.n = kColumns;
  geometry.accumulator_rows = 16;
  return geometry;
}

/// A depthwise convolution of one tap that keeps maps of these sizes.
Convolution maps(std::uint32_t images, std::uint32_t channels, std::uint32_t height,
                 std::uint32_t width) {
  Convolution c;
  c.images = images;
  c.channels = c.out_channels = c.groups = channels;
  c.height = c.out_height = height;
  c.width = c.out_width = width;
  c.kernel_height = c.kernel_width = c.stride_height = c.stride_width = 1;
  c.dilation_height = c.dilation_width = 1;
  return c;
}

Convolution whole_map(std::uint32_t height, std::uint32_t width) {
  Convolution c = maps(2, 6, height, width);
  c.kernel_height = height;
  c.kernel_width = width;
  c.out_height = c.out_width = 1;
  return c;
}

TEST(LanesCut, AddsWholeMapsByWindowsThatEndWithTheirLastPixel) {
  Convolution c = whole_map(8, 10);
  c.zero = 5;
  const std::optional<LanesCut> cut = cut_for_lanes(c, small(), LaneSum::kValues);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->command.flags, flag::kAccumulate);
  EXPECT_EQ(cut->command.kernel_height, 3U);
  EXPECT_EQ(cut->command.zero, 0U) << "nothing beyond the border counts";
  EXPECT_EQ(cut->command.lead, 10U) << "one row is above, two columns are left of the map";
  EXPECT_EQ(depthwise_refusal(cut->command), "");
  EXPECT_EQ(cut->plane_rows(), 2U);
  EXPECT_EQ(cut->plane_words(), 2U * 80);
  EXPECT_EQ(depthwise_clocks(cut->command), 4U * 80 + 1) << "a word a clock, and the last window";
  const std::vector<std::uint8_t> weights = pack_lane_weights(*cut, {}, kColumns);
  EXPECT_EQ(weights, std::vector<std::uint8_t>(2 * 9 * std::size_t{kColumns}, 1));
  const std::optional<LanesCut> largest = cut_for_lanes(c, small(), LaneSum::kMaximum);
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->command.flags, flag::kAccumulate | flag::kMaximum);
  EXPECT_EQ(largest->command.zero, 0x80U);
}

TEST(LanesCut, TakesMapsWhoseSumALaneHolds) {
  EXPECT_TRUE(cut_for_lanes(whole_map(128, 128), small(), LaneSum::kValues));
  EXPECT_FALSE(cut_for_lanes(whole_map(129, 128), small(), LaneSum::kValues));
  EXPECT_FALSE(cut_for_lanes(whole_map(9, 10), small(), LaneSum::kProducts)) << "other weights";
}

/// The words of operands that a job's commands read, one after the other.
std::vector<std::uint64_t> operand_words(const JobCommands& job, std::uint64_t first) {
  std::vector<std::uint64_t> words;
  for (const Command& command : job.commands) {
    if (command.opcode != Opcode::kLoadOperands) continue;
    const LoadOperandsCommand load(command);
    for (std::uint32_t block = 0; block < load.blocks; ++block) {
      for (std::uint32_t pass = 0; pass < load.passes; ++pass) {
        for (std::uint32_t run = 0; run < load.count; ++run) {
          for (std::uint32_t row = 0; row < load.rows; ++row) {
            words.push_back((load.address - first) / kColumns + std::uint64_t{block} * load.rows +
                            std::uint64_t{run} * load.stride + row);
          }
        }
      }
    }
  }
  return words;
}

TEST(LanesCommands, ReadEachImagesOperandForItsBlocksWhereverAStoreIsCut) {
  Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  output.vector = StoreCommand{};
  output.vector->multiply = output.vector->broadcast = 1;
  output.operand_images = 3;
  const std::optional<Plan> plan =
      make_lanes_plan(maps(3, 10, 6, 8), small(), output, LaneSum::kMaximum);
  ASSERT_TRUE(plan);
  const std::uint64_t each = 48 / plan->groups[0].rows, blocks = plan->row_blocks();
  ASSERT_EQ(48 % plan->groups[0].rows, 0U);
  ASSERT_EQ(blocks, 3 * each);
  ASSERT_GT(each, 1U);
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t tile = 0; tile < plan->n_tiles; ++tile) {
    for (std::uint64_t block = 0; block < blocks; ++block) {
      wanted.push_back(tile * 3 + block / each);
    }
  }
  Layout layout;
  layout.operands = 4096;
  EXPECT_EQ(operand_words(lanes_commands(*plan, layout, {}), layout.operands), wanted);
  for (std::uint32_t tile = 0; tile < plan->n_tiles; ++tile) {
    for (std::uint64_t block = 0; block < blocks; ++block) {
      Overlaps overlaps;
      overlaps.cut = ResultCut{block, tile};
      EXPECT_EQ(operand_words(lanes_commands(*plan, layout, overlaps), layout.operands), wanted)
          << "cut at block " << block << " of tile " << tile;
    }
  }
}

}  // namespace
}  // namespace gemm64

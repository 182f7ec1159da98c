// SPDX-License-Identifier: Apache-2.0
// Pools of whole maps as commands of the lanes, and what STOREs read where each image of a batch
// has a second operand.

#include "host/device/command_rules.hpp"
#include "host/device/commands.hpp"
#include "host/device/depthwise.hpp"
#include "host/tiling/depthwise_tiling.hpp"
#include "host/tiling/job_commands.hpp"
#include "tests/test.hpp"

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

TEST(DepthwiseTiling, SumsMapsToTheLastPixel) {
  Convolution c = whole_map(8, 10);
  c.zero = 5;
  const std::optional<DepthwiseTiling> cut = cut_for_lanes(c, small(), LaneSum::kValues);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->command().flags, flag::kAccumulate);
  EXPECT_EQ(cut->command().kernel_height, 3U);
  EXPECT_EQ(cut->command().zero, 0U) << "nothing beyond the border counts";
  EXPECT_EQ(cut->command().lead, 10U) << "one row is above, two columns are left of the map";
  EXPECT_EQ(rule_refusal(cut->command(), Geometry()), "");
  EXPECT_EQ(cut->plane_rows(), 2U);
  EXPECT_EQ(cut->plane_words(), 2U * 80);
  EXPECT_EQ(depthwise_cycles(cut->command()), 4U * 80 + 1)
      << "a word per cycle, and the last window";
  const std::vector<std::uint8_t> weights = pack_lane_weights(*cut, {}, kColumns);
  EXPECT_EQ(weights, std::vector<std::uint8_t>(2 * 9 * std::size_t{kColumns}, 1));
  const std::optional<DepthwiseTiling> largest = cut_for_lanes(c, small(), LaneSum::kMaximum);
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->command().flags, flag::kAccumulate | flag::kMaximum);
  EXPECT_EQ(largest->command().zero, 0x80U);
}

TEST(DepthwiseTiling, TakesMapsWhoseSumALaneHolds) {
  EXPECT_TRUE(cut_for_lanes(whole_map(128, 128), small(), LaneSum::kValues));
  EXPECT_FALSE(cut_for_lanes(whole_map(129, 128), small(), LaneSum::kValues));
  EXPECT_FALSE(cut_for_lanes(whole_map(9, 10), small(), LaneSum::kProducts)) << "other weights";
}

TEST(DepthwiseTiling, SumsMapsOfAnyWidthByRows) {
  const auto cut = cut_for_lanes(whole_map(3, 200), small(), LaneSum::kValues);
  ASSERT_TRUE(cut);
  EXPECT_FALSE(cut->in_strips());
  EXPECT_EQ(cut->command().height, 5U);
  EXPECT_EQ(cut->command().width, 120U);
  EXPECT_EQ(cut_for_lanes(whole_map(60, 1), small(), LaneSum::kValues)->command().width, 60U);
  EXPECT_FALSE(cut_for_lanes(whole_map(1, 131), small(), LaneSum::kValues)) << "a prime";
}

TEST(DepthwiseTiling, TakesAnImageOfOneColumnAsARow) {
  Convolution c = maps(2, 6, 9, 1);
  c.kernel_height = c.stride_height = 2;
  c.out_height = 4;
  const auto cut = cut_for_lanes(c, small(), LaneSum::kProducts);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->command().height, 1U);
  EXPECT_EQ(cut->command().width, 9U);
  EXPECT_EQ(cut->command().out_width, 4U);
  c.out_width = 2;
  EXPECT_FALSE(cut_for_lanes(c, small(), LaneSum::kProducts)) << "next to the border";
}

/// A depthwise convolution that keeps the size of its map, of `width` columns.
Convolution dilated(std::uint32_t kernel, std::uint32_t dilation, std::uint32_t width) {
  Convolution c = maps(2, 6, 14, width);
  c.kernel_height = c.kernel_width = kernel;
  c.dilation_height = c.dilation_width = dilation;
  c.pad_top = c.pad_left = (kernel - 1) / 2 * dilation;
  return c;
}

TEST(DepthwiseTiling, KeepsDilationIfWindowFits) {
  struct Case {
    std::uint32_t kernel, dilation, command_kernel, command_dilation;
  };
  for (const Case& each :
       {Case{3, 2, 3, 2}, Case{3, 3, 3, 3}, Case{3, 6, 3, 6}, Case{5, 2, 5, 2}, Case{2, 8, 3, 4},
        Case{2, 2, 3, 1}, Case{4, 2, 5, 2}, Case{7, 1, 7, 1}, Case{1, 9, 3, 1}}) {
    SCOPED_TRACE(testing::Message() << each.kernel << " taps, " << each.dilation << " apart");
    Convolution c = dilated(each.kernel, each.dilation, 14);
    if (each.kernel % 2 == 0) c.out_height = c.out_width = 14 - each.dilation;
    const auto cut = cut_for_lanes(c, small(), LaneSum::kProducts);
    ASSERT_TRUE(cut);
    EXPECT_FALSE(cut->in_strips());
    EXPECT_EQ(cut->command().kernel_height, each.command_kernel);
    EXPECT_EQ(cut->command().dilation_height, each.command_dilation);
    EXPECT_EQ(cut->command().dilation_width, each.command_dilation);
    EXPECT_EQ(rule_refusal(cut->command(), Geometry()), "");
  }
  for (const auto& [kernel, dilation] : {std::pair{3U, 7U}, {5U, 3U}, {7U, 2U}, {3U, 18U}}) {
    EXPECT_FALSE(cut_for_lanes(dilated(kernel, dilation, 14), small(), LaneSum::kProducts));
  }
}

TEST(DepthwiseTiling, PadsDilatedTapsWithZeros) {
  Convolution c = dilated(2, 8, 14);
  c.out_height = c.out_width = 6;
  const auto cut = cut_for_lanes(c, small(), LaneSum::kProducts);
  ASSERT_TRUE(cut);
  MatrixI8 weights(6, 4);
  weights.setOnes();
  weights.row(0) << 1, 2, 3, 4;
  const std::vector<std::uint8_t> packed = pack_lane_weights(*cut, weights, kColumns);
  std::vector<std::uint8_t> taps;
  for (std::size_t tap = 0; tap < 9; ++tap) taps.push_back(packed[tap * kColumns]);
  EXPECT_EQ(taps, (std::vector<std::uint8_t>{1, 0, 2, 0, 0, 0, 3, 0, 4}));
}

TEST(DepthwiseTiling, SplitsWideDilatedRows) {
  Geometry geometry = small();
  geometry.accumulator_rows = 128;
  const auto cut = cut_for_lanes(dilated(3, 4, 65), geometry, LaneSum::kProducts);
  ASSERT_TRUE(cut);
  ASSERT_EQ(cut->strips.size(), 3U) << "of at most 32 columns";
  for (const LanesStrip& strip : cut->strips) {
    EXPECT_EQ(strip.command.dilation_height, 4U);
    EXPECT_EQ(rule_refusal(strip.command, Geometry()), "");
  }
  Convolution c = dilated(3, 6, 65);
  c.dilation_height = c.pad_top = 9;
  c.stride_width = 2;
  c.out_width = 33;
  EXPECT_FALSE(cut_for_lanes(c, geometry, LaneSum::kProducts)) << "a tile a tap takes less";
}

/// A convolution over rows of 300 pixels, 3x3, of two images in two planes.
Convolution wide_rows() {
  Convolution c = maps(2, 6, 5, 300);
  c.kernel_height = c.kernel_width = 3;
  c.pad_top = c.pad_left = 1;
  return c;
}

TEST(DepthwiseTiling, StripsOfWideRowsShareColumns) {
  Geometry geometry = small();
  geometry.accumulator_rows = 128;
  const auto cut = cut_for_lanes(wide_rows(), geometry, LaneSum::kProducts);
  ASSERT_TRUE(cut);
  ASSERT_EQ(cut->strips.size(), 3U);
  const auto expect = [&](std::size_t i, std::uint32_t in, std::uint32_t width, std::uint32_t out,
                          std::uint32_t pad) {
    const LanesStrip& strip = cut->strips[i];
    EXPECT_EQ(strip.in_column, in) << i;
    EXPECT_EQ(strip.command.width, width) << i;
    EXPECT_EQ(strip.out_column, out) << i;
    EXPECT_EQ(strip.command.out_width, 100U) << i;
    EXPECT_EQ(strip.command.rows, 100U) << i;
    EXPECT_EQ(strip.command.pad_left, pad) << i;
    EXPECT_EQ(rule_refusal(strip.command, Geometry()), "") << i;
  };
  expect(0, 0, 101, 0, 1);
  expect(1, 99, 102, 100, 0);
  expect(2, 199, 101, 200, 0);
  EXPECT_EQ(cut->plane_words(), 2U * 5 * 304) << "two columns twice at each of two borders";
  EXPECT_EQ(cut->plane_rows(), 2U * 5 * 300);
  EXPECT_FALSE(cut_for_lanes(maps(1, 4, 1, 128), geometry, LaneSum::kMaximum)->in_strips());
  EXPECT_TRUE(cut_for_lanes(maps(1, 4, 1, 129), geometry, LaneSum::kMaximum)->in_strips());
  Convolution end = wide_rows();  // what it leaves out is not loaded
  end.stride_width = 4;
  end.out_width = 20;
  const auto left = cut_for_lanes(end, geometry, LaneSum::kProducts);
  ASSERT_EQ(left->strips.size(), 1U);
  EXPECT_TRUE(left->in_strips());
  EXPECT_EQ(left->command().width, 78U);
}

TEST(DepthwiseTiling, StripsStayWithinTheBorder) {
  Geometry geometry = small();
  geometry.accumulator_rows = 3;  // a strip for each column
  Convolution c = wide_rows();
  c.out_width = 300;  // the last strip begins with the column 298
  EXPECT_TRUE(cut_for_lanes(c, geometry, LaneSum::kProducts));
  c.out_width = 301;
  EXPECT_FALSE(cut_for_lanes(c, geometry, LaneSum::kProducts)) << "nothing but the last column";
  geometry.accumulator_rows = 2;
  EXPECT_FALSE(cut_for_lanes(wide_rows(), geometry, LaneSum::kProducts)) << "windows of 3 columns";
}

class LanesCommandsOfStrips : public testing::TestWithParam<LaneSum> {};

TEST_P(LanesCommandsOfStrips, LoadAndStoreInPlace) {
  Geometry geometry = small();
  geometry.accumulator_rows = 128;
  Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  const auto plan = make_lanes_plan(wide_rows(), geometry, output, GetParam());
  ASSERT_TRUE(plan);
  const std::vector<Command> commands = lanes_commands(*plan, {}, {}).commands;
  std::vector<std::uint64_t> stored;
  std::uint64_t sets = 0;
  std::size_t strips = 0;
  for (const Command& command : commands) {
    if (command.opcode == Opcode::kLoadWeights) {
      EXPECT_EQ(command.passes, 3U) << "for each strip";
    }
    if (command.opcode == Opcode::kLoadParameters) {
      EXPECT_EQ(command.passes, 10U) << "for each row of a strip";
      sets += std::uint64_t{command.count} / kParameterSetWords * command.passes;
    }
    if (command.opcode == Opcode::kLoadActivations) {
      const LoadActivationsCommand load(command);
      const LanesStrip& strip = plan->lanes->strips.at(strips++);
      EXPECT_EQ(load.rows, strip.command.width);
      EXPECT_EQ(load.count, 2U * 2 * 5) << "rows of two images of two planes";
      EXPECT_EQ(load.stride, 300U);
      EXPECT_EQ(load.address, std::uint64_t{strip.in_column} * kColumns);
    }
    if (command.opcode != Opcode::kStore) continue;
    const StoreCommand store(command);
    for (std::uint64_t line = 0; line < store.count; ++line) {
      for (std::uint64_t row = 0; row < store.rows; ++row) {
        stored.push_back(store.address / kColumns + line * store.stride + row);
      }
    }
  }
  EXPECT_EQ(strips, 3U);
  EXPECT_EQ(sets, plan->row_blocks() * plan->n_tiles);
  ASSERT_EQ(stored.size(), 2U * 3000);
  for (std::uint64_t i = 0; i < stored.size(); ++i) {
    const std::uint64_t plane = stored[i] / 3000, row = stored[i] % 3000;
    ASSERT_EQ(plan->lanes->rows_before(plane, row), i) << "plane " << plane << ", row " << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Sums, LanesCommandsOfStrips,
                         testing::Values(LaneSum::kProducts, LaneSum::kMaximum),
                         [](const auto& info) {
                           return info.param == LaneSum::kMaximum ? "Maximum" : "Products";
                         });

TEST(LanesCommands, StartEarlyWithFirstStrip) {
  Geometry geometry = small();
  geometry.accumulator_rows = 128;
  const Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  const auto plan = make_lanes_plan(wide_rows(), geometry, output, LaneSum::kProducts);
  ASSERT_TRUE(plan);
  const auto early = [&](std::uint64_t words) {
    Overlaps overlaps;
    overlaps.early_words = words;
    const JobCommands job = lanes_commands(*plan, {}, overlaps);
    std::vector<Opcode> found;
    for (std::size_t i = 0; i < job.commands.size(); ++i) {
      if (job.phases[i] == Phase::kEarly) found.push_back(job.commands[i].opcode);
    }
    return found;
  };
  EXPECT_EQ(early(0), std::vector<Opcode>{});
  EXPECT_EQ(early(std::numeric_limits<std::uint64_t>::max()),
            (std::vector<Opcode>{Opcode::kLoadActivations, Opcode::kDepthwise}));
}

TEST(LanesCommands, PrefetchParametersThatFit) {
  Geometry geometry = small();
  geometry.parameter_sets = 8;
  Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  const auto plan =
      make_lanes_plan(maps(1, 9 * kColumns, 4, 8), geometry, output, LaneSum::kProducts);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->row_blocks(), 2U);
  const JobCommands job = lanes_commands(*plan, {}, {});
  std::uint64_t ahead = 0, sets = 0, most = 0;
  for (std::size_t i = 0; i < job.commands.size(); ++i) {
    const Command& command = job.commands[i];
    if (command.opcode == Opcode::kLoadParameters) {
      sets += std::uint64_t{command.count} / kParameterSetWords * command.passes;
      ahead += job.phases[i] == Phase::kAhead ? 1 : 0;
    }
    most = std::max(most, sets);
    if (command.opcode == Opcode::kStore) sets -= std::uint64_t{command.count} * command.blocks;
  }
  EXPECT_EQ(ahead, 4U) << "of two sets each";
  EXPECT_EQ(most, 8U) << "all that there is room for, and no more";
  EXPECT_EQ(sets, 0U);
}

TEST(LanesCommands, ReadOperandsInResultOrder) {
  Geometry geometry = small();
  geometry.accumulator_rows = 128;
  Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  output.vector = StoreCommand{};
  output.vector->add = 1;
  Layout layout;
  layout.operands = 4096;
  const auto plan = make_lanes_plan(wide_rows(), geometry, output, LaneSum::kProducts);
  ASSERT_TRUE(plan);
  const auto words = operand_words(lanes_commands(*plan, layout, {}), layout.operands);
  ASSERT_EQ(words.size(), 2U * 3000);
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(plan->lanes->rows_before(words[i] / 3000, words[i] % 3000), i);
  }
  output.vector->broadcast = 1;
  output.operand_images = 2;
  const auto images = make_lanes_plan(wide_rows(), geometry, output, LaneSum::kProducts);
  ASSERT_TRUE(images);
  std::vector<std::uint64_t> wanted;  // five rows of a strip of each image
  for (std::uint64_t i = 0; i < std::uint64_t{3} * 20; ++i) wanted.push_back(i / 5 % 4);
  EXPECT_EQ(operand_words(lanes_commands(*images, layout, {}), layout.operands), wanted);
}

TEST(LanesCommands, ReadOperandsPerImage) {
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

// SPDX-License-Identifier: Apache-2.0
// How channels and groups of convolutions share tiles, and how convolutions are cut.
#include "host/tiling/convolution.hpp"

#include "host/tiling/packing.hpp"
#include "host/tiling/window_cut.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/known_programs.hpp"

namespace gemm64 {
namespace {

Convolution same(std::uint32_t channels, std::uint32_t out_channels, std::uint32_t size,
                 std::uint32_t kernel, std::uint32_t groups = 1) {
  return square(channels, size, out_channels, kernel, 1, groups);
}

struct Tiling {
  std::uint32_t planes, group_planes, group_passes, passes;

  friend bool operator==(const Tiling& a, const Tiling& b) {
    return a.planes == b.planes && a.group_planes == b.group_planes &&
           a.group_passes == b.group_passes && a.passes == b.passes;
  }
};

Tiling tiling(std::uint32_t channels, std::uint32_t out_channels, std::uint32_t groups) {
  const Window w = window_of(same(channels, out_channels, 8, 3, groups), 64);
  return {w.planes, w.group_planes, w.group_passes, w.passes()};
}

TEST(Convolution, GroupsOfWholePlanesShareTiles) {
  EXPECT_EQ(tiling(200, 100, 1), (Tiling{4, 4, 2, 2}));    // plain
  EXPECT_EQ(tiling(384, 384, 384), (Tiling{6, 1, 1, 6}));  // depthwise
  EXPECT_EQ(tiling(96, 96, 96), (Tiling{2, 1, 1, 2}));     // the last plane half full
  EXPECT_EQ(tiling(64, 128, 64), (Tiling{1, 1, 2, 2}));    // two results a channel
  EXPECT_EQ(tiling(256, 512, 4), (Tiling{4, 1, 2, 8}));    // a plane a group
  EXPECT_EQ(tiling(192, 192, 2), (Tiling{3, 3, 3, 3}));    // 96 channels a group: both together
  EXPECT_EQ(tiling(96, 192, 3), (Tiling{2, 1, 2, 3}));     // the last has one pass of two
  EXPECT_EQ(tiling(48, 48, 4), (Tiling{1, 1, 1, 1}));      // all in one tile
  EXPECT_EQ(tiling(288, 288, 3), (Tiling{5, 5, 5, 5}));    // planes of the last would be missing
  EXPECT_EQ(tiling(40, 160, 40), (Tiling{1, 1, 3, 3}));    // 64 groups would have four passes
}

TEST(Convolution, IsToldBySizesAndWhatIsUnusual) {
  Convolution c = same(8, 16, 10, 3, 8);
  EXPECT_EQ(to_string(c), "3x3 convolution of 1x8x10x10 to 1x16x10x10, padding 1x1, 8 groups");
  c.groups = c.images = 2;
  c.kernel_width = 5;
  c.stride_height = 2;
  c.dilation_width = 3;
  c.pad_top = c.pad_left = 0;
  c.out_height = 4;
  EXPECT_EQ(to_string(c),
            "3x5 convolution of 2x8x10x10 to 2x16x4x10, stride 2x1, dilation 1x3, 2 groups");
}

TEST(Convolution, RefusesWhatIsNone) {
  const auto message = [](const Convolution& c) -> std::string {
    return message_of([&] { window_of(c, 64); });
  };
  EXPECT_THAT(message(same(0, 8, 8, 3)), Says("0 channels"));
  EXPECT_THAT(message(same(8, 8, 8, 3, 0)), Says("0 groups"));
  EXPECT_THAT(message(same(8, 9, 8, 3, 8)), Says("8 to 9 channels has 8 groups"));
}

std::vector<std::uint32_t> rows_of(const WindowPlan& plan) {
  std::vector<std::uint32_t> rows;
  for (const WindowBlock& block : plan.blocks) rows.push_back(block.rows);
  return rows;
}

TEST(WindowCut, TakesTheFewestAndMostEqualBlocks) {
  const WindowCut cut = cut_convolution(same(64, 64, 13, 3), Geometry{});
  ASSERT_EQ(cut.strips.size(), 1u);
  EXPECT_FALSE(cut.in_strips());
  EXPECT_EQ(rows_of(cut.strips[0].plan), (std::vector<std::uint32_t>{85, 84}));
  // 97 blocks of 128 rows and less would leave 33 rows for the last, which takes 64 cycles a tile.
  for (const std::uint32_t rows :
       rows_of(cut_convolution(same(64, 64, 111, 3), Geometry{}).strips[0].plan)) {
    EXPECT_GE(rows, 127u);
  }
}

TEST(WindowCut, LowersBlocksToFitNextPixels) {
  Geometry geometry;
  const Convolution c =
      same(64, 64, 64, 3);  // a block of 128 pixels needs four rows of 64, then two
  geometry.scratchpad_words = 6 * 64;
  EXPECT_EQ(cut_convolution(c, geometry).strips[0].plan.blocks.size(), 32u);
  geometry.scratchpad_words = 6 * 64 - 1;
  const WindowCut low = cut_convolution(c, geometry);
  EXPECT_FALSE(low.in_strips());
  EXPECT_GT(low.blocks(), 32u);
  // All rows of three that a lower block needs are there with most of the next one's.
  EXPECT_EQ(low.strips[0].plan.capacity, 6u * 64 - 1);
}

TEST(WindowCut, CutsIntoStripsWhatDoesNotFit) {
  Geometry geometry;
  geometry.scratchpad_words = 150;  // two rows of 64, of three
  const WindowCut cut = cut_convolution(same(64, 64, 64, 3), geometry);
  EXPECT_TRUE(cut.in_strips());
  std::uint32_t column = 0;
  for (const WindowStrip& strip : cut.strips) {
    EXPECT_EQ(strip.out_column, column);
    EXPECT_EQ(strip.in_column, column == 0 ? 0 : column - 1);
    column += strip.plan.window.out_width;
    for (const std::uint32_t rows : rows_of(strip.plan)) {
      EXPECT_EQ(rows, strip.plan.window.out_width);
    }
  }
  EXPECT_EQ(column, 64u);
  // Strips share two columns of the input.
  EXPECT_EQ(cut.loaded_words(), 64u * (64 + 2 * (cut.strips.size() - 1)));
}

TEST(WindowCut, TakesTheFewestStrips) {
  Geometry geometry;
  geometry.scratchpad_words = 100;
  geometry.accumulator_rows = 16;
  EXPECT_EQ(cut_convolution(same(64, 64, 64, 3), geometry).strips.size(), 4u);
  Convolution c = same(64, 64, 64, 3);
  c.out_width = 65;
  EXPECT_EQ(cut_convolution(c, geometry).strips.size(), 5u);
}

TEST(WindowCut, TakesStripsThatMeetPaddingAlone) {
  Geometry geometry;
  geometry.scratchpad_words = 100;
  geometry.accumulator_rows = 16;
  Convolution c = same(64, 64, 64, 3);
  c.out_width = 96;
  const WindowCut cut = cut_convolution(c, geometry);
  ASSERT_EQ(cut.strips.size(), 6u);
  EXPECT_EQ(cut.strips[5].in_column, 63u) << "some column of the input";
  EXPECT_EQ(cut.strips[5].plan.window.width, 1u);
  EXPECT_EQ(cut.strips[5].plan.window.skip_left, 79u - 63u);
}

TEST(WindowCut, RejectsIfNoOutputPixelFits) {
  Geometry geometry;
  geometry.scratchpad_words = 64;
  EXPECT_THAT([&] { cut_convolution(same(64 * 10, 64, 64, 3), geometry); },
              Fails("does not fit the scratchpad of 64 words: a single output pixel "
                    "meets 3 rows of 10 planes of 64 channels, which take 5760 bytes; a "
                    "scratchpad of 90 words is enough"));
}

// The least scratchpad that the refusal names is enough, and one word less is not.
TEST(WindowCut, NamesTheLeastScratchpadThatIsEnough) {
  for_seeds(41, 60, [](std::mt19937& random) {
    Geometry geometry;
    geometry.n = 4;
    geometry.scratchpad_words = 1;
    Convolution c =
        same(draw(random, 1, 40), draw(random, 1, 40), draw(random, 2, 12), draw(random, 1, 4));
    c.stride_height = c.stride_width = draw(random, 1, 3);
    c.out_height = (c.height - 1) / c.stride_height + 1;
    c.out_width = (c.width - 1) / c.stride_width + 1;
    const std::string refusal = message_of([&] { cut_convolution(c, geometry); });
    if (refusal.empty()) return;
    const std::size_t place = refusal.rfind("scratchpad of ");
    geometry.scratchpad_words = static_cast<std::uint32_t>(std::stoul(refusal.substr(place + 14)));
    SCOPED_TRACE(refusal);
    EXPECT_NO_THROW(cut_convolution(c, geometry));
    --geometry.scratchpad_words;
    EXPECT_THROW(cut_convolution(c, geometry), UsageError);
  });
}

// Every weight is once at the place where the device expects it, and zeros elsewhere.
TEST(WindowPacking, PutsGroupsOnTheDiagonal) {
  Geometry geometry;
  geometry.n = 4;
  const Job job = make_job("depthwise", same(4, 4, 3, 1, 4), geometry);
  MatrixI8 w(4, 1);
  w << 1, 2, 3, 4;
  EXPECT_EQ(pack_weights(job, w),
            (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4}));
  EXPECT_EQ(job.plan.shape.macs(), 9u * 4);
}

TEST(WindowPacking, PutsTapsOfAPlaneBehindEachOther) {
  Geometry geometry;
  geometry.n = 2;
  Convolution c = same(3, 1, 3, 1);
  c.kernel_width = 2;
  c.out_width = 2;
  const Job job = make_job("taps", c, geometry);
  MatrixI8 w(1, 6);
  w << 1, 2, 3, 4, 5, 6;                                                  // channels of two taps
  EXPECT_EQ(pack_weights(job, w), (std::vector<std::uint8_t>{1, 3, 0, 0,  // plane 0, tap 0
                                                             2, 4, 0, 0,  // tap 1
                                                             5, 0, 0, 0,  // plane 1
                                                             6, 0, 0, 0}));
  MatrixI8 a(9, 3);
  for (int i = 0; i < 27; ++i) a.data()[i] = static_cast<std::int8_t>(i);
  const std::vector<std::uint8_t> packed = pack_activations(job, a);
  ASSERT_EQ(packed.size(), 36u);
  EXPECT_EQ(std::vector<std::uint8_t>(packed.begin(), packed.begin() + 4),
            (std::vector<std::uint8_t>{0, 1, 3, 4}));
  EXPECT_EQ(std::vector<std::uint8_t>(packed.begin() + 18, packed.begin() + 22),
            (std::vector<std::uint8_t>{2, 0, 5, 0}));
}

// Fields of DEPTHWISE at their largest values, and what exceeds them by one.
TEST(DepthwiseTiling, EndsWhereTheFieldsDo) {
  Geometry geometry;
  geometry.n = 4;
  Convolution fits;
  fits.channels = fits.out_channels = fits.groups = 4;
  fits.kernel_height = fits.kernel_width = 3;
  fits.height = 0xffff;
  fits.width = 8;
  fits.out_height = 0xffff - 2;
  fits.out_width = 6;
  EXPECT_TRUE(cut_for_lanes(fits, geometry, LaneSum::kMaximum));
  Convolution tall = fits;
  tall.height += 1;
  EXPECT_FALSE(cut_for_lanes(tall, geometry, LaneSum::kMaximum));
  Convolution sparse = fits;
  sparse.stride_height = 255;
  sparse.out_height = (sparse.height - 3) / 255 + 1;
  const auto cut = cut_for_lanes(sparse, geometry, LaneSum::kMaximum);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->command().stride_height, 255U);
  sparse.stride_height = 256;
  sparse.out_height = (sparse.height - 3) / 256 + 1;
  EXPECT_FALSE(cut_for_lanes(sparse, geometry, LaneSum::kMaximum));
}

}  // namespace
}  // namespace gemm64

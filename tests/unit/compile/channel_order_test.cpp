// SPDX-License-Identifier: Apache-2.0
#include "host/compile/channel_order.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

TEST(ChannelOrder, IsUnchangedIfNoneSavesTiles) {
  const std::vector<PartCost> even = {{64, 10, 0}, {128, 10, 0}, {32, 10, 0}, {32, 10, 0}};
  EXPECT_THAT(place_parts(even, 64, true), ElementsAre(0, 64, 192, 224));
}

TEST(ChannelOrder, PutsPartsThatFillTilesAhead) {
  // As in GoogLeNet: 96 channels ahead of 64 make these take two tiles.
  const std::vector<PartCost> parts = {{128, 4, 0}, {192, 18, 0}, {96, 9, 0}, {64, 4, 0}};
  EXPECT_THAT(place_parts(parts, 64, true), ElementsAre(0, 128, 384, 320));
  EXPECT_THAT(place_parts(parts, 64, false), ElementsAre(0, 128, 320, 416));
}

TEST(ChannelOrder, AlignsThePartThatNeedsIt) {
  const std::vector<PartCost> parts = {{3, 1, 0}, {5, 1, 100}, {8, 1, 100}};
  EXPECT_THAT(place_parts(parts, 8, true), ElementsAre(5, 0, 8));
}

TEST(ChannelOrder, OfManyPartsIsTheGivenOne) {
  const std::vector<PartCost> parts(9, {3, 1, 100});
  EXPECT_THAT(place_parts(parts, 8, true), ElementsAre(0, 3, 6, 9, 12, 15, 18, 21, 24));
}

TEST(ChannelOrder, HasNoMapForIdentity) {
  EXPECT_TRUE(normalized({0, 1, 2}).empty());
  EXPECT_THAT(normalized({0, 2, 1}), ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace gemm64

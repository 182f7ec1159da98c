// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/cut.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(Cut, LeavesWholeWhatIsNoLongerThanABlock) {
  for (const std::int64_t size : {1, 2, 63, 64}) {
    const Cut cut{size, 64};
    EXPECT_EQ(cut.blocks(), 1) << size;
    EXPECT_EQ(cut.width(), size);
    EXPECT_EQ(cut.padded(), size);
    EXPECT_EQ(cut.padding(), 0);
  }
}

TEST(Cut, PadsWhatIsLongerToAMultipleOfTheBlock) {
  const std::int64_t cases[][3] = {{65, 2, 63},  {127, 2, 1},    {128, 2, 0},
                                   {129, 3, 63}, {1000, 16, 24}, {9216, 144, 0}};
  for (const auto& [size, blocks, padding] : cases) {
    const Cut cut{size, 64};
    EXPECT_EQ(cut.blocks(), blocks) << size;
    EXPECT_EQ(cut.padding(), padding) << size;
    EXPECT_EQ(cut.padded(), size + padding) << size;
    EXPECT_EQ(cut.width(), 64) << size;
  }
}

TEST(Cut, HoldsForSizesAtTheEndOfTheRange) {
  const Cut cut{(std::int64_t{1} << 62) + 1, 64};
  EXPECT_EQ(cut.blocks(), (std::int64_t{1} << 56) + 1);
  EXPECT_EQ(cut.padding(), 63);
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/histogram.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

TEST(Histogram, CountsFromEachEdgeOn) {
  Histogram histogram(0, 4, 4);
  const std::vector<float> values{0, 0.5F, 1, -2, 4, 5, std::numeric_limits<float>::quiet_NaN()};
  histogram.add(values.data(), static_cast<std::int64_t>(values.size()), false);
  EXPECT_THAT(histogram.counts(), ElementsAre(2, 1, 0, 1));
  histogram.add(values.data(), 4, true);
  EXPECT_THAT(histogram.counts(), ElementsAre(4, 2, 1, 1));
}

TEST(Histogram, OfOneNumberReachesHalfToEachSide) {
  Histogram histogram(3, 3, 2);
  const float three = 3;
  histogram.add(&three, 1, false);
  EXPECT_THAT(histogram.edges(), ElementsAre(2.5F, 3, 3.5F));
  EXPECT_THAT(histogram.counts(), ElementsAre(0, 1));
}

TEST(Histogram, PercentileIsAnEdge) {
  Histogram histogram(0, 10, 10);
  for (int i = 0; i < 10; ++i) {
    const float value = static_cast<float>(i) + 0.5F;
    histogram.add(&value, 1, false);
  }
  EXPECT_EQ(histogram.percentile(45), 4);
  EXPECT_EQ(histogram.percentile(95), 9);
}

TEST(Histogram, LeavesRareNumbersOut) {
  Histogram histogram(-100, 100, 1024);
  for (int i = -1000; i <= 1000; ++i) {
    const float value = static_cast<float>(i) / 100;
    histogram.add(&value, 1, false);
  }
  const float rare = 100;
  histogram.add(&rare, 1, false);
  // Neither all bins nor the fewest, up to 12.7.
  EXPECT_EQ(histogram.least_divergence(), (std::pair<float, float>{-14.84375F, 15.0390625F}));
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/accuracy.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(BestClasses, AreThoseWithTheHighestScores) {
  MatrixF scores(2, 4);
  scores << 1, 7, 3, 7, -5, kNan, -4, -6;
  EXPECT_THAT(best_classes(scores, 0, 3), ElementsAre(1, 3, 2));
  EXPECT_THAT(best_classes(scores, 1, 9), ElementsAre(2, 0, 3, 1));
}

TEST(Accuracy, CountsTheBestAndTheFiveBest) {
  MatrixF scores(4, 7);
  scores << 9, 8, 7, 6, 5, 4, 3,  // classes 0 to 4 are the best
      9, 8, 7, 6, 5, 4, 3,        //
      9, 8, 7, 6, 5, 4, 3,        //
      0, 0, 0, 0, 0, 0, 1;
  const Accuracy found = measure_accuracy(scores, {0, 4, 5, 6});
  EXPECT_EQ(found.images, 4U);
  EXPECT_EQ(found.top1, 2U);
  EXPECT_EQ(found.top5, 3U);
  EXPECT_EQ(found.classes, 7);
  EXPECT_EQ(found.found.at({4, 0}), 1U);
  EXPECT_EQ(found.found.at({6, 6}), 1U);
  EXPECT_THROW(measure_accuracy(scores, {0, 1, 2}), std::invalid_argument);
  EXPECT_THROW(measure_accuracy(scores, {0, 1, 2, 7}), std::invalid_argument);
  EXPECT_THROW(measure_accuracy(scores, {0, 1, -1, 6}), std::invalid_argument);
}

TEST(Accuracy, ListsTheMostFrequentConfusionsFirst) {
  MatrixF scores(4, 3);
  scores << 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1;
  const std::vector<Confusion> all = confusions(measure_accuracy(scores, {1, 2, 2, 2}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].label, 2);
  EXPECT_EQ(all[0].found, 1);
  EXPECT_EQ(all[0].images, 2U);
  EXPECT_EQ(all[1].label, 1);
}

}  // namespace
}  // namespace gemm64

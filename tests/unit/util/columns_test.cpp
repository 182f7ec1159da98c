// SPDX-License-Identifier: Apache-2.0
#include "host/util/columns.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

TEST(Columns, WrapProseAtWords) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("層の 名前", 5), ElementsAre("層の", "名前"));
  EXPECT_THAT(wrapped("a\n\n  indented words stay\nb c", 3),
              ElementsAre("a", "", "  indented words stay", "b c"));
  EXPECT_THAT(wrapped("unbreakable words", 4), ElementsAre("unbreakable words"));
  EXPECT_THAT(wrapped("", 4), ElementsAre());
}

TEST(Columns, KeepTheEndOfAName) {
  EXPECT_EQ(end_in_columns("/features/conv1", 15), "/features/conv1");
  EXPECT_EQ(end_in_columns("/features/conv1", 9), ".../conv1");
  EXPECT_EQ(end_in_columns("層の名前", 7), "...名前");
  EXPECT_EQ(end_in_columns("name", 2), "..");
}

}  // namespace
}  // namespace gemm64

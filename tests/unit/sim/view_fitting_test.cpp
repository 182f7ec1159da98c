// SPDX-License-Identifier: Apache-2.0
// Views are made for the array of 64x64: what becomes of their traces for a smaller one.
#include "sim/waves/view_fitting.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;
using testing::Optional;

const std::string kStage = "gemm64.gemm64.u_array.stage[0].u_stage.activation_q[";

/// Signals of an array of 4x4 in stages of four rows, as fst_signals() gives them.
ViewFitting four() {
  std::map<std::string, std::string> signals{
      {"gemm64.gemm64.clk_i", ""}, {"gemm64.gemm64.activation", "[31:0]"}, {"a.count", "[7:0]"}};
  for (int i = 0; i < 4 * 5; ++i) signals[kStage + std::to_string(i) + "]"] = "[7:0]";
  return ViewFitting(signals);
}

TEST(ViewFitting, GivesSignalsTheRangeThatTheyHave) {
  EXPECT_THAT(four().signal("gemm64.gemm64.clk_i"), Optional(std::string("gemm64.gemm64.clk_i")));
  EXPECT_THAT(four().signal("gemm64.gemm64.activation[511:0]"),
              Optional(std::string("gemm64.gemm64.activation[31:0]")));
  EXPECT_EQ(four().signal("gemm64.gemm64.nothing[7:0]"), std::nullopt);
}

TEST(ViewFitting, CountsBitsFromTheLeft) {
  // Bit 8 of 511:0 and of 31:0; bit 31, the last that there is; bit 32.
  EXPECT_THAT(four().signal("(503)gemm64.gemm64.activation[511:0]"),
              Optional(std::string("(23)gemm64.gemm64.activation[31:0]")));
  EXPECT_THAT(four().signal("(480)gemm64.gemm64.activation[511:0]"),
              Optional(std::string("(0)gemm64.gemm64.activation[31:0]")));
  EXPECT_EQ(four().signal("(479)gemm64.gemm64.activation[511:0]"), std::nullopt);
}

TEST(ViewFitting, FindsRowAndColumnOfAnActivation) {
  EXPECT_THAT(four().signal(kStage + "3][7:0]"), Optional(kStage + "3][7:0]"));
  EXPECT_THAT(four().signal(kStage + "65][7:0]"), Optional(kStage + "5][7:0]"));  // row 1
  EXPECT_THAT(four().signal(kStage + "198][7:0]"),
              Optional(kStage + "18][7:0]"));  // row 3, column 3
  // Column 5 of row 0, where 4x4 has column 0 of row 1.
  EXPECT_EQ(four().signal(kStage + "5][7:0]"), std::nullopt);
}

TEST(ViewFitting, LeavesOutTracesWithoutSignal) {
  EXPECT_THAT(four().fit({"@22", "[color] 2", "^1 words.txt", "+{x} a.nothing[7:0]", "[color] 3",
                          "+{count} a.count[3:0]", "#{part} gemm64.gemm64.clk_i a.nothing",
                          "gemm64.gemm64.clk_i", "[pattern_trace] 1"}),
              ElementsAre("@22", "[color] 3", "+{count} a.count[7:0]", "gemm64.gemm64.clk_i",
                          "[pattern_trace] 1"));
}

TEST(ViewFitting, LeavesOutEmptyGroups) {
  EXPECT_THAT(four().fit({"@800200", "-outer", "@800200", "-empty", "@22", "+{x} a.nothing",
                          "@1000200", "-empty", "@22", "a.count[7:0]", "@1000200", "-outer"}),
              ElementsAre("@800200", "-outer", "@800200", "@1000200", "@22", "a.count[7:0]",
                          "@1000200", "-outer"));
  EXPECT_THAT(four().fit({"@800200", "-a", "@800200", "-b", "@22", "+{x} a.nothing", "@1000200",
                          "-b", "@1000200", "-a", "@28", "gemm64.gemm64.clk_i"}),
              ElementsAre("@800200", "@1000200", "@28", "gemm64.gemm64.clk_i"));
}

}  // namespace
}  // namespace gemm64

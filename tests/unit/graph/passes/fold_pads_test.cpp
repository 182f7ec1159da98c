// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fold_pads.hpp"

#include <fmt/ranges.h>

#include "host/graph/onnx/graph_check.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/graph/proto/attribute.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

/// The operators in order, and the pads of the convolution among them.
std::string text_of(const OnnxModel& model) {
  require_valid(model.proto(), "what was rewritten");
  std::string text;
  for (const onnx::NodeProto& node : model.graph().node()) {
    text += (text.empty() ? "" : " ") + node.op_type();
    if (node.op_type() == "Conv" || node.op_type() == "QLinearConv") {
      text +=
          fmt::format("{}", fmt::join(attribute(node, "pads", std::vector<std::int64_t>{}), ","));
    }
  }
  return text;
}

std::string folded(const std::string& nodes, const std::string& outputs = "float[1,2,6,6] y") {
  return text_of(
      fold_pads(load_text("(float[1,2,4,4] x, float[2,2,3,3] w) => (" + outputs +
                              ") <int64[8] p = {0, 0, 1, 2, 0, 0, 3, 4}, int64[4] q = {1, "
                              "2, 3, 4}, int64[2] axes = {-2, "
                              "3}, int64[8] channels = {0, 1, 0, 0, 0, 0, 0, 0}, int64[8] "
                              "less = {0, 0, -1, 0, 0, 0, 0, "
                              "0}, int64[4] begin = {0, 0, 1, 2}, int64[4] end = {0, 0, 3, "
                              "4}, float zero = {0}, float one = {1}> {" +
                              nodes + "}",
                          {"w"}, 18)));
}

TEST(FoldPads, TakesZerosIntoConvolution) {
  EXPECT_EQ(folded("a = Pad(x, p) y = Conv(a, w)"), "Conv1,2,3,4");
  EXPECT_EQ(folded("a = Pad(x, p, zero) y = Conv<pads = [1, 1, 1, 1]>(a, w)"), "Conv2,3,4,5");
  EXPECT_EQ(folded("a = Pad(x, q, , axes) y = Conv(a, w)"), "Conv1,2,3,4");
}

TEST(FoldPads, TakesOutWhatComputedTheSizes) {
  EXPECT_EQ(folded("r = Concat<axis = 0>(begin, end) a = Pad(x, r) y = Conv(a, w)"), "Conv1,2,3,4");
}

TEST(FoldPads, LeavesOtherPads) {
  EXPECT_EQ(folded("a = Pad(x, p, one) y = Conv(a, w)"), "Pad Conv") << "not zeros";
  EXPECT_EQ(folded("a = Pad<mode = \"reflect\">(x, p) y = Conv(a, w)"), "Pad Conv");
  EXPECT_EQ(folded("a = Pad(x, less) y = Conv(a, w)"), "Pad Conv") << "cuts";
  EXPECT_EQ(folded("a = Pad(x, p) y = Conv<auto_pad = \"SAME_UPPER\">(a, w)"), "Pad Conv");
  EXPECT_EQ(folded("a = Pad(x, p) y = Conv(a, w)", "float[1,2,6,6] y, float[1,2,8,10] a"),
            "Pad Conv")
      << "read elsewhere";
}

TEST(FoldPads, TakesZeroPointsIntoConvolution) {
  const std::string constants =
      "(uint8[1,2,4,4] x) => (uint8[1,2,6,6] y) <float s = {0.5}, uint8 z = {7}, float t = {0.25}, "
      "uint8[2,2,3,3] f = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, "
      "7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}, int64[8] p = {0, 0, 1, 2, 0, 0, 3, 4}> ";
  const auto found = [&](const std::string& between) {
    return text_of(with_quantized_operators(
        load_text(constants + "{a = DequantizeLinear(x, s, z) b = Pad(a, p) " + between +
                  " c = DequantizeLinear(q, s, z) d = DequantizeLinear(f, s, z) e = Conv(c, d) "
                  "y = QuantizeLinear(e, t, z)}"),
        {}));
  };
  EXPECT_EQ(found("q = QuantizeLinear(b, s, z)"), "QLinearConv1,2,3,4");
  EXPECT_NE(found("q = QuantizeLinear(b, t, z)"), "QLinearConv1,2,3,4") << "in other steps";
}

}  // namespace
}  // namespace gemm64

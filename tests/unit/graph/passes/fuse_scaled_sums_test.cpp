// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_scaled_sums.hpp"

#include "tests/test.hpp"
#include "tests/unit/graph/passes/node_list.hpp"

namespace gemm64 {
namespace {

const std::string kSums = "p = MatMulInteger(x, w, za) c = Cast <to = 1> (p) ";

std::string fused(const std::string& nodes, const std::string& scale = "float s",
                  const std::string& bias = "float[3] b",
                  const std::string& outputs = "float[2,3] y") {
  const std::string inputs = "uint8[2,4] x, int8[4,3] w, uint8 za, " + scale + ", " + bias;
  return node_list(fuse_scaled_sums(
      load_text("(" + inputs + ") => (" + outputs + ") {" + kSums + nodes + "}", {"w", "b"}, 20)));
}

TEST(FuseScaledSums, TakesScaleAndBias) {
  const std::string product = "MatMulIntegerToFloat(x, w, ";
  EXPECT_EQ(fused("m = Mul(c, s) y = Add(m, b)"), product + "p_scale, s, za, , b)");
  EXPECT_EQ(fused("m = Mul(s, c) y = Add(b, m)"), product + "p_scale, s, za, , b)");
  EXPECT_EQ(fused("y = Mul(c, s)"), product + "p_scale, s, za)");
  EXPECT_EQ(fused("y = Mul(c, s)", "float[3] s"), product + "p_scale, s, za)") << "one a column";
  EXPECT_EQ(fused("m = Mul(c, s) y = Add(m, b)", "float s", "float[2,3] b"),
            product + "p_scale, s, za) Add(m, b)")
      << "an addition of another kind";
}

TEST(FuseScaledSums, KeepsTheOrderOfProducts) {
  EXPECT_EQ(fused("q = MatMulInteger(x, w) d = Cast <to = 1> (q) z = Mul(d, s) y = Mul(c, s)",
                  "float s", "float[3] b", "float[2,3] z, float[2,3] y"),
            "MatMulIntegerToFloat(x, w, p_scale, s, za) MatMulIntegerToFloat(x, w, q_scale, s)");
}

TEST(FuseScaledSums, LeavesOtherScales) {
  const std::string product = "MatMulInteger(x, w, za) Cast(p) ";
  EXPECT_EQ(fused("y = Mul(c, s)", "float[2,1] s"), product + "Mul(c, s)");
  EXPECT_EQ(fused("y = Mul(c, s)", "float s", "float[3] b", "float[2,3] y, float[2,3] c"),
            product + "Mul(c, s)");
  EXPECT_EQ(fused("y = Mul(c, s)", "float s", "float[3] b", "float[2,3] y, int32[2,3] p"),
            product + "Mul(c, s)");
  EXPECT_EQ(
      fused("m = Mul(c, s) y = Add(m, b)", "float s", "float[3] b", "float[2,3] y, float[2,3] m"),
      "MatMulIntegerToFloat(x, w, p_scale, s, za) Add(m, b)");
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_block_bias.hpp"

#include "tests/test.hpp"
#include "tests/unit/graph/passes/node_list.hpp"

namespace gemm64 {
namespace {

const std::string kProduct =
    "p = com.microsoft.MatMulNBits <K = 16, N = 3, block_size = 16> (x, w, s) ";

std::string joined(const std::string& nodes, const std::string& outputs = "float[2,3] y",
                   const std::string& bias = "float[3] b") {
  const std::string inputs = "float[2,16] x, uint8[3,1,8] w, float[3] s, " + bias;
  return node_list(fuse_block_biases(load_text(
      "(" + inputs + ") => (" + outputs + ") {" + kProduct + nodes + "}", {"w", "s", "b"}, 20)));
}

TEST(FuseBlockBias, TakesBiasAfterProduct) {
  EXPECT_EQ(joined("y = Add(p, b)"), "MatMulNBits(x, w, s, , , b)");
  EXPECT_EQ(joined("y = Add(b, p)"), "MatMulNBits(x, w, s, , , b)");
}

TEST(FuseBlockBias, LeavesWhatIsNoBias) {
  const std::string product = "MatMulNBits(x, w, s) ";
  EXPECT_EQ(joined("q = Add(p, b) y = Gelu(q)"), product + "Add(p, b) Gelu(q)");
  EXPECT_EQ(joined("y = Add(p, b)", "float[2,3] y, float[2,3] p"), product + "Add(p, b)")
      << "the product is an output";
  EXPECT_EQ(joined("y = Add(p, b)", "float[2,3] y", "float[1] b"), product + "Add(p, b)");
  EXPECT_EQ(joined("y = Add(p, b)", "float[2,3] y", "float[2,3] b"), product + "Add(p, b)");
}

}  // namespace
}  // namespace gemm64

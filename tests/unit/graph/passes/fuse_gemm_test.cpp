// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_gemm.hpp"

#include "tests/test.hpp"
#include "tests/unit/graph/passes/node_list.hpp"

namespace gemm64 {
namespace {

std::string joined(const std::string& graph) {
  return node_list(fuse_gemms(load_text(graph, {"w", "b", "c"}, 17)));
}

TEST(FuseGemm, TakesBiasAfterProduct) {
  EXPECT_EQ(joined("(float[2,4] x, float[4,3] w, float[3] b) => (float[2,3] y) "
                   "{p = MatMul(x, w) y = Add(p, b)}"),
            "Gemm(x, w, b)");
  EXPECT_EQ(joined("(float[M,4] x, float[4,3] w, float[1,3] b) => (float[M,3] y) "
                   "{p = MatMul(x, w) y = Add(b, p)}"),
            "Gemm(x, w, b)")
      << "an open number of rows";
}

TEST(FuseGemm, ReshapesStacksOfFixedSizes) {
  const OnnxModel model =
      fuse_gemms(load_text("(float[5,2,4] x, float[4,3] w, float[3] b) => (float[5,2,3] y) "
                           "{p = MatMul(x, w) y = Add(p, b)}",
                           {"w", "b"}, 17));
  EXPECT_EQ(node_list(model),
            "Reshape(x, x as rows shape) Gemm(x as rows, w, b) Reshape(y as rows, y shape)");
  EXPECT_EQ(model.type("x as rows")->dims, (std::vector<std::int64_t>{10, 4}));
  EXPECT_EQ(model.type("y")->dims, (std::vector<std::int64_t>{5, 2, 3}));
}

TEST(FuseGemm, LeavesWhatIsNoGemm) {
  const std::string left = "MatMul(x, w) Add(p, b)";
  EXPECT_EQ(joined("(float[N,2,4] x, float[4,3] w, float[3] b) => (float[N,2,3] y) "
                   "{p = MatMul(x, w) y = Add(p, b)}"),
            left)
      << "an open stack";
  EXPECT_EQ(joined("(float[2,4] x, float[4,3] w, float[1] b) => (float[2,3] y) "
                   "{p = MatMul(x, w) y = Add(p, b)}"),
            left)
      << "a bias of one number";
  EXPECT_EQ(joined("(float[2,4] x, float[4,3] w, float[5,2,3] b) => (float[5,2,3] y) "
                   "{p = MatMul(x, w) y = Add(p, b)}"),
            left)
      << "a bias that makes the result larger";
  EXPECT_EQ(joined("(float[2,4] x, float[4,3] w, float[3] b) => (float[2,3] y, float[2,3] p) "
                   "{p = MatMul(x, w) y = Add(p, b)}"),
            left)
      << "the product is an output";
}

}  // namespace
}  // namespace gemm64

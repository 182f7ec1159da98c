// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_matmul.hpp"

#include "host/graph/proto/attribute.hpp"
#include "tests/test.hpp"
#include "tests/unit/graph/passes/node_list.hpp"

namespace gemm64 {
namespace {

OnnxModel joined_model(const std::string& nodes, const std::string& outputs = "float[2,3,5,5] y") {
  return fuse_products(load_text(
      "(float[2,3,5,4] q, float[2,3,5,4] k) => (" + outputs +
          ") <float half = {0.5}, float quarter = {0.25}, float[1] one = {2}> {" + nodes + "}",
      {}, 17));
}

std::string joined(const std::string& nodes, const std::string& outputs = "float[2,3,5,5] y") {
  return node_list(joined_model(nodes, outputs));
}

const std::string kTurned = "t = Transpose<perm = [0, 1, 3, 2]>(k) ";

std::int64_t integer(const OnnxModel& model, const char* name) {
  return attribute(model.graph().node(0), name, std::int64_t{0});
}

float alpha(const OnnxModel& model) { return attribute(model.graph().node(0), "alpha", 0.0F); }

TEST(FuseMatMul, ReadsTransposedOperand) {
  const OnnxModel model = joined_model(kTurned + "y = MatMul(q, t)");
  EXPECT_EQ(node_list(model), "FusedMatMul(q, k)");
  EXPECT_EQ(integer(model, "transB"), 1);
  EXPECT_EQ(integer(model, "transA"), 0);
  EXPECT_EQ(alpha(model), 1.0F);
  EXPECT_EQ(joined(kTurned + "y = MatMul(q, t) z = Relu(t)", "float[2,3,5,5] y, float[2,3,4,5] z"),
            "Transpose(k) FusedMatMul(q, k) Relu(t)")
      << "somebody else reads it";
}

TEST(FuseMatMul, MovesFirstAxisAfterBatch) {
  const OnnxModel model =
      fuse_products(load_text("(float[5,2,3,4] q, float[2,3,4,5] k) => (float[2,3,5,5] y) "
                              "{t = Transpose<perm = [1, 2, 0, 3]>(q) y = MatMul(t, k)}",
                              {}, 17));
  EXPECT_EQ(node_list(model), "FusedMatMul(q, k)");
  EXPECT_EQ(integer(model, "transBatchA"), 1);
  EXPECT_EQ(integer(model, "transA"), 0);
}

TEST(FuseMatMul, TakesNumbersOnBothSides) {
  const OnnxModel model = joined_model(
      "a = Mul(q, half) b = Div(k, one) t = Transpose<perm = [0, 1, 3, 2]>(b) "
      "p = MatMul(a, t) y = Mul(quarter, p)");
  EXPECT_EQ(node_list(model), "FusedMatMul(q, k)");
  EXPECT_EQ(alpha(model), 0.0625F);
  EXPECT_EQ(joined("a = Mul(q, half) " + kTurned + "y = MatMul(a, t) z = Relu(a)",
                   "float[2,3,5,5] y, float[2,3,5,4] z"),
            "Mul(q, half) FusedMatMul(q, k) Relu(a)");
}

TEST(FuseMatMul, GivesNumberToFirstProduct) {
  const OnnxModel model = joined_model(
      kTurned + "p = MatMul(q, t) a = Mul(p, half) y = MatMul(a, k)", "float[2,3,5,4] y");
  EXPECT_EQ(node_list(model), "FusedMatMul(q, k) MatMul(a, k)");
  EXPECT_EQ(alpha(model), 0.5F);
}

TEST(FuseMatMul, LeavesLinearLayers) {
  EXPECT_EQ(node_list(fuse_products(
                load_text("(float[2,4] x, float[4,3] w) => (float[2,3] y) <float half = {0.5}> "
                          "{a = Mul(x, half) y = MatMul(a, w)}",
                          {"w"}, 17))),
            "Mul(x, half) MatMul(a, w)");
  EXPECT_EQ(node_list(fuse_products(load_text(
                "(float[2,5,3,4] q, float[2,5,3,4] k) => (float[2,3,5,5] y) "
                "{a = Transpose<perm = [0, 2, 1, 3]>(q) b = Transpose<perm = [0, 2, 3, 1]>(k) "
                "y = MatMul(a, b)}",
                {}, 17))),
            "Transpose(q) Transpose(k) MatMul(a, b)");
  EXPECT_EQ(node_list(fuse_products(
                load_text("(float[2,3,5,4] q, float[2,5,3,4] k) => (float[2,3,5,5] y, int64[4] s) "
                          "{a = Transpose<perm = [0, 2, 1, 3]>(k) s = Shape(a) "
                          "b = Transpose<perm = [0, 1, 3, 2]>(a) y = MatMul(q, b)}",
                          {}, 17))),
            "Transpose(k) Shape(a) Transpose(a) MatMul(q, b)")
      << "two in a row are one, which a product cannot take";
}

TEST(FuseMatMul, LeavesTransposeBeforeConcat) {
  const auto of_sizes = [](const std::string& nodes, const std::string& outputs) {
    return node_list(fuse_products(
        load_text("(float[2,3,5,4] q, float[2,5,3,4] k) => (float[2,3,5,5] y" + outputs + ") " +
                      "<float half = {0.5}> {a = Transpose<perm = [0, 2, 1, 3]>(k) " + nodes +
                      " b = Transpose<perm = [0, 1, 3, 2]>(d) y = MatMul(q, b)}",
                  {}, 17)));
  };
  EXPECT_EQ(of_sizes("d = Concat<axis = 2>(a)", ""),
            "Transpose(k) Concat(a) Transpose(d) MatMul(q, b)");
  EXPECT_EQ(of_sizes("c = Mul(a, half) d = Concat<axis = 2>(c)", ""),
            "Transpose(k) Mul(a, half) Concat(c) Transpose(d) MatMul(q, b)");
  EXPECT_EQ(of_sizes("d = Concat<axis = 2>(a) s = Shape(d)", ", int64[4] s"),
            "Transpose(k) Concat(a) Shape(d) FusedMatMul(q, d)")
      << "somebody else reads it";
}

TEST(FuseMatMul, ReadsThroughTransposesInARow) {
  EXPECT_EQ(joined("a = Transpose<perm = [1, 0, 3, 2]>(k) b = Transpose<perm = [1, 0, 2, 3]>(a) "
                   "y = MatMul(q, b)"),
            "FusedMatMul(q, k)");
}

}  // namespace
}  // namespace gemm64

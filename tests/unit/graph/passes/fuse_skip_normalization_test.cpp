// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_skip_normalization.hpp"

#include "tests/test.hpp"
#include "tests/unit/graph/passes/node_list.hpp"

namespace gemm64 {
namespace {

/// Sizes that a run gives to those that files leave open: equal ones, which say nothing of names.
OnnxModel load(const std::string& graph, const std::vector<std::string>& weights,
               const std::map<std::string, std::vector<std::int64_t>>& sizes = {}) {
  ImportOptions options;
  options.input_shapes = sizes;
  for (const char* const name : {"N", "S", "R"}) {
    if (graph.find(std::string("[") + name) != std::string::npos ||
        graph.find(std::string(",") + name) != std::string::npos) {
      options.input_shapes.emplace(name, std::vector<std::int64_t>{4});
    }
  }
  return load_text(graph, weights, 17, options);
}

/// Of `nodes` that make y of x and t, which have the sizes.
std::string joined(const std::string& nodes, const std::string& sizes = "[N,S,4]",
                   const std::string& others = "[N,S,4]", const std::string& more = "") {
  return node_list(fuse_skip_normalizations(load("(float" + sizes + " x, float" + others +
                                                     " t, float[4] s, float[4] b, float[4] c, "
                                                     "float[4,4] w) => (float" +
                                                     sizes + " y" + more + ") {" + nodes + "}",
                                                 {"s", "b", "c", "w"})));
}

const std::string kNorm = " y = LayerNormalization<axis = -1>(a, s, b)";

TEST(FuseSkipNormalization, TakesTheSum) {
  EXPECT_EQ(joined("a = Add(x, t)" + kNorm), "SkipLayerNormalization(x, t, s, b)");
  EXPECT_EQ(joined("a = Add(x, t)" + kNorm, "[2,3,4]", "[2,3,4]"),
            "SkipLayerNormalization(x, t, s, b)");
}

TEST(FuseSkipNormalization, TakesBiasOfOneOperand) {
  EXPECT_EQ(joined("d = Add(x, c) a = Add(d, t)" + kNorm), "SkipLayerNormalization(x, t, s, b, c)");
  EXPECT_EQ(joined("d = Add(x, c) a = Add(t, d)" + kNorm), "SkipLayerNormalization(t, x, s, b, c)");
  EXPECT_EQ(joined("p = MatMul(x, w) d = Add(c, p) a = Add(d, t)" + kNorm),
            "MatMul(x, w) SkipLayerNormalization(p, t, s, b, c)");
  EXPECT_EQ(joined("d = Add(c, x) a = Add(d, t)" + kNorm),
            "Add(c, x) SkipLayerNormalization(d, t, s, b)")
      << "first and of no product";
}

TEST(FuseSkipNormalization, LeavesBiasToIntegers) {
  EXPECT_EQ(node_list(fuse_skip_normalizations(load(
                "(uint8[N,S,4] x, float[N,S,4] t, int8[4,4] w, float m, float[4] s, float[4] b, "
                "float[4] c) => (float[N,S,4] y) {i = MatMulInteger(x, w) f = Cast<to = 1>(i) "
                "p = Mul(f, m) d = Add(p, c) a = Add(d, t)" +
                    kNorm + "}",
                {"s", "b", "c"}))),
            "MatMulInteger(x, w) Cast(i) Mul(f, m) Add(p, c) SkipLayerNormalization(d, t, s, b)");
}

TEST(FuseSkipNormalization, LeavesOtherSums) {
  const std::string left = "Add(x, t) LayerNormalization(a, s, b)";
  EXPECT_EQ(joined("a = Add(x, t)" + kNorm, "[N,S,4]", "[N,R,4]"), left) << "sizes of two names";
  EXPECT_EQ(joined("a = Add(x, t)" + kNorm, "[N,S,4]", "[1,S,4]"), left) << "one is broadcast";
  EXPECT_EQ(joined("a = Add(x, t)" + kNorm, "[N,4]", "[N,4]"), left) << "of two axes";
  EXPECT_EQ(joined("a = Add(x, t)" + kNorm, "[N,S,4]", "[N,S,4]", ", float[N,S,4] a"), left)
      << "the sum is an output";
  EXPECT_EQ(joined("a = Add(x, t) y = LayerNormalization<axis = 1>(a, s, b)", "[N,4,4]", "[N,4,4]"),
            left)
      << "over two axes";
}

TEST(FuseSkipNormalization, LeavesSumReadByBranch) {
  onnx::ModelProto proto = parse_model(
      "(bool i, float[2,3,4] x, float[2,3,4] t, float[4] s, float[4] b) => (float[2,3,4] y, "
      "float[2,3,4] z) {a = Add(x, t)" +
          kNorm + " z = If(i)}",
      {"s", "b"}, 17);
  for (const char* const branch : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& attribute = *proto.mutable_graph()->mutable_node(2)->add_attribute();
    attribute.set_name(branch);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto& graph = *attribute.mutable_g();
    graph.set_name(branch);
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Neg");
    node.add_input("a");
    node.add_output(branch);
    graph.add_output()->set_name(branch);
    graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::FLOAT);
  }
  EXPECT_EQ(
      node_list(fuse_skip_normalizations(OnnxModel::from_proto(std::move(proto), "test.onnx"))),
      "Add(x, t) LayerNormalization(a, s, b) If(i)");
}

TEST(FuseSkipNormalization, KnowsSizesThatFollow) {
  const auto is_joined = [](const std::string& nodes) {
    return joined(nodes + " a = Add(v, t)" + kNorm).find("SkipLayer") != std::string::npos;
  };
  EXPECT_TRUE(is_joined("u = Transpose<perm = [0, 2, 1]>(x) v = Transpose<perm = [0, 2, 1]>(u)"));
  EXPECT_TRUE(
      is_joined("z = Constant<value = int64[4] {0, 0, 2, 2}>() "
                "e = Constant<value = int64[3] {0, 0, -1}>() u = Reshape(x, z) v = Reshape(u, e)"));
  EXPECT_TRUE(is_joined("q = MatMul(x, w) r = Softmax<axis = -1>(q) v = Mul(r, s)"));
  EXPECT_FALSE(is_joined("e = Shape(x) v = Reshape(x, e)")) << "a shape that nodes compute";
  EXPECT_EQ(node_list(fuse_skip_normalizations(
                load("(float[N,R,4] x, float[2,3,4] t, float[4] s, float[4] b) => (float[2,3,4] y) "
                     "{e = Shape(t) v = Reshape(x, e) a = Add(v, t)" +
                         kNorm + "}",
                     {"s", "b"}, {{"N", {3}}, {"R", {2}}}))),
            "Shape(t) Reshape(x, e) SkipLayerNormalization(v, t, s, b)")
      << "but one of known sizes is a constant";
}

}  // namespace
}  // namespace gemm64

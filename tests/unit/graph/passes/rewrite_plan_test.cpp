// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/rewrite_plan.hpp"

#include "host/graph/passes/rewrite_report.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

using Sizes = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

Sizes sizes(const LinearSite& site) { return {site.m.size, site.k.size, site.n.size}; }

/// The only layer of a plan in which nothing is skipped.
LinearSite only_layer(const OnnxModel& model, std::int64_t block = 64) {
  const RewritePlan plan = plan_rewrite(model, block);
  EXPECT_TRUE(plan.skipped.empty());
  EXPECT_EQ(plan.layers.size(), 1u);
  return plan.layers.at(0);
}

/// Why the only product of a model is left as it is.
std::string reason(const OnnxModel& model) {
  const RewritePlan plan = plan_rewrite(model, 64);
  EXPECT_TRUE(plan.layers.empty());
  EXPECT_EQ(plan.skipped.size(), 1u);
  return plan.skipped.at(0).reason;
}

TEST(RewritePlan, ReadsMKNOfTransposedGemms) {
  const std::pair<const char*, const char*> a[] = {{"5,130", "0"}, {"130,5", "1"}};
  const std::pair<const char*, const char*> b[] = {{"130,70", "0"}, {"70,130", "1"}};
  for (const auto& [a_dims, trans_a] : a) {
    for (const auto& [b_dims, trans_b] : b) {
      const LinearSite site = only_layer(load_text(
          fmt::format("(float[{}] x, float[{}] w) => (float[5,70] y) {{y = Gemm<transA = {}, "
                      "transB = {}, alpha = 0.5, beta = 3.0>(x, w)}}",
                      a_dims, b_dims, trans_a, trans_b),
          {"w"}));
      EXPECT_EQ(sizes(site), Sizes(5, 130, 70));
      EXPECT_EQ(site.transpose_a, trans_a[0] == '1');
      EXPECT_EQ(site.transpose_b, trans_b[0] == '1');
      EXPECT_EQ(site.alpha, 0.5f);
      EXPECT_EQ(site.matmuls(), 1 * 3 * 2);
    }
  }
}

TEST(RewritePlan, LeavesBiasTimesZeroOut) {
  const std::string graph =
      "(float[2,3] x, float[3,4] w, float[4] c) => (float[2,4] y) {{y = Gemm<beta = {}>(x, w, c)}}";
  EXPECT_EQ(only_layer(load_text(fmt::format(graph, "0.5"), {"w", "c"})).c, "c");
  EXPECT_EQ(only_layer(load_text(fmt::format(graph, "0.0"), {"w", "c"})).c, "");
}

TEST(RewritePlan, TakesGemmWithoutConstant) {
  const OnnxModel model =
      load_text("(float[2,3] x, float[3,4] w) => (float[2,4] y) {y = Gemm(x, w)}");
  EXPECT_EQ(sizes(only_layer(model)), Sizes(2, 3, 4));
}

TEST(RewritePlan, TakesMatMulWithConstant) {
  const std::string graph = "(float[2,3] x, float[3,4] w) => (float[2,4] y) {y = MatMul(x, w)}";
  EXPECT_EQ(sizes(only_layer(load_text(graph, {"w"}))), Sizes(2, 3, 4));
  EXPECT_EQ(sizes(only_layer(load_text(graph, {"x"}))), Sizes(2, 3, 4));
  EXPECT_THAT(reason(load_text(graph)), Says("neither operand is constant"));
}

TEST(RewritePlan, FollowsWeightsThroughNodes) {
  const std::string graph =
      "(float[2,3] x, float[4,3] w) => (float[2,4] y) {"
      "v = Transpose<perm = [1, 0]>(w)  u = Identity(v)  y = MatMul(x, u)}";
  EXPECT_EQ(sizes(only_layer(load_text(graph, {"w"}))), Sizes(2, 3, 4));
  EXPECT_THAT(reason(load_text(graph)), Says("neither operand is constant"));
}

TEST(RewritePlan, MultipliesOuterDimensionsIntoM) {
  EXPECT_EQ(
      sizes(only_layer(load_text(
          "(float[2,5,7,9] x, float[9,4] w) => (float[2,5,7,4] y) {y = MatMul(x, w)}", {"w"}))),
      Sizes(70, 9, 4));
  EXPECT_EQ(sizes(only_layer(
                load_text("(float[9] x, float[9,4] w) => (float[4] y) {y = MatMul(x, w)}", {"w"}))),
            Sizes(1, 9, 4));
}

TEST(RewritePlan, NamesWhatItLeavesAndWhy) {
  EXPECT_THAT(reason(load_text("(float[2,5,9] x, float[2,9,4] w) => (float[2,5,4] y) "
                               "{y = MatMul(x, w)}",
                               {"w"})),
              Says("second operand is 2x9x4, not a matrix"));
  EXPECT_THAT(
      reason(load_text("(float[5,9] x, float[9] w) => (float[5] y) {y = MatMul(x, w)}", {"w"})),
      Says("second operand is 9, not a matrix"));
  EXPECT_THAT(reason(load_text("(int32[2,3] x, int32[3,4] w) => (int32[2,4] y) {y = Gemm(x, w)}")),
              Says("integers"));
  EXPECT_THAT(
      reason(load_text("(float[0,3] x, float[3,4] w) => (float[0,4] y) {y = Gemm(x, w)}", {"w"})),
      Says("empty"));
  EXPECT_THAT(
      reason(load_text("(float[2,3] x, float[3,4] w) => (float[2,4] y) {y = MatMul(x, w)}", {}, 6)),
      Says("opset 6"));
  EXPECT_THAT(
      reason(load_text("(float[2,L] x, float[3,4] w) => (float[2,4] y) {y = MatMul(x, w)}", {"w"})),
      Says("not known"));
}

TEST(RewritePlan, NamesProductsInsideOfSubgraphs) {
  onnx::ModelProto proto =
      parse_model("(bool b, float[2,3] x, float[3,4] w) => (float[2,4] y) {y = If(b)}", {"w"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& attribute = *proto.mutable_graph()->mutable_node(0)->add_attribute();
    attribute.set_name(branch);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto& graph = *attribute.mutable_g();
    graph.set_name(branch);
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("MatMul");
    node.set_name(std::string("inside_") + branch);
    node.add_input("x");
    node.add_input("w");
    node.add_output(std::string("y_") + branch);
    graph.add_output()->set_name(node.output(0));
    auto& type = *graph.mutable_output(0)->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
  }
  const RewritePlan plan = plan_rewrite(OnnxModel::from_proto(std::move(proto), "test.onnx"), 64);
  EXPECT_TRUE(plan.layers.empty());
  ASSERT_EQ(plan.skipped.size(), 2u);
  EXPECT_EQ(plan.skipped[0].name, "inside_then_branch");
  EXPECT_EQ(plan.skipped[1].name, "inside_else_branch");
  EXPECT_THAT(plan.skipped[0].reason, Says("inside node"));
}

TEST(RewritePlan, NamesNodesThatItLeaves) {
  onnx::ModelProto proto = parse_model(
      "(float[1,1,8,8] x, float[2,1,3,3] f, float[6,3] w, int8[3,3] q) => (float[1,2,6,3] y)"
      "{c = Conv(x, f) e = Einsum<equation=\"...->...\">(c) d = Conv(x, f) r = Relu(d)"
      " i = MatMulInteger(q, q) o = com.example.Odd(r) y = MatMul(r, w)}",
      {"f", "w"});
  proto.add_opset_import()->set_domain("com.example");
  proto.mutable_opset_import(2)->set_version(1);
  const RewritePlan plan = plan_rewrite(OnnxModel::from_proto(proto, "test.onnx"), 64);
  ASSERT_EQ(plan.layers.size(), 1u);
  std::vector<std::string> left;
  for (const SkippedNode& node : plan.skipped) left.push_back(node.op_type + ": " + node.reason);
  EXPECT_THAT(left, testing::ElementsAre("Conv: a convolution, not a Linear layer",
                                         "Einsum: only Gemm and MatMul are rewritten",
                                         "Conv: a convolution, not a Linear layer",
                                         "MatMulInteger: only Gemm and MatMul are rewritten",
                                         "com.example.Odd: gemm64 does not know this operator"));
  const std::string table = rewrite_table(plan, 0);
  EXPECT_THAT(table, Says("2 Conv (Conv number 0, Conv number 2): a convolution"));
  EXPECT_EQ(to_json(plan, "m", 1)["skipped"].size(), 5u);
}

TEST(RewritePlan, LeavesProductsOfQuantizedOperands) {
  const RewritePlan plan = plan_rewrite(
      load_text("(uint8[2,2] x) => (float[2,2] y) <float s = {0.5}, uint8 z = {0}, uint8[2,2] w = "
                "{1, 2, 3, 4}> {a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                " y = MatMul(a, c)}"),
      64);
  EXPECT_TRUE(plan.layers.empty());
  ASSERT_EQ(plan.skipped.size(), 1u);
  EXPECT_THAT(plan.skipped[0].reason, Says("its operands are quantized"));
}

TEST(RewritePlan, NamesOptionForOpenSizes) {
  const std::string graph = "(float[2,L] x, float[3,4] w) => (float[2,4] y) {y = MatMul(x, w)}";
  const RewritePlan open = plan_rewrite(load_text(graph, {"w"}), 64);
  EXPECT_THAT(rewrite_table(open, 0), Says("give them with --input-shape x=2xA."));
  ImportOptions options;
  options.input_shapes["x"] = {2, 3};
  const RewritePlan plan = plan_rewrite(load_text(graph, {"w"}, 13, options), 64);
  EXPECT_EQ(plan.layers.size(), 1u);
  EXPECT_THAT(rewrite_table(plan, 0), Lacks("--input-shape"));
}

TEST(RewritePlan, TakesTheBatchOfTheImport) {
  const std::string graph =
      "(float[batch,70] x, float[70,4] w) => (float[batch,4] y) {y = Gemm(x, w)}";
  EXPECT_EQ(sizes(only_layer(load_text(graph, {"w"}))), Sizes(1, 70, 4));
  ImportOptions options;
  options.batch = 65;
  const RewritePlan plan = plan_rewrite(load_text(graph, {"w"}, 13, options), 64);
  EXPECT_EQ(sizes(plan.layers.at(0)), Sizes(65, 70, 4));
  EXPECT_EQ(plan.matmuls(), 2 * 2 * 1);
  EXPECT_TRUE(plan.fixes_batch());
}

TEST(RewritePlan, RefusesMoreNodesThanAFileHolds) {
  const OnnxModel model =
      load_text("(float[1,4000] x, float[4000,4000] w) => (float[1,4000] y) {y = Gemm(x, w)}");
  EXPECT_EQ(plan_rewrite(model, 4).matmuls(), 1000 * 1000);
  EXPECT_THAT([&] { plan_rewrite(model, 2); }, Fails("1x4000x4000", "2,097,152", "--block"));
  EXPECT_THROW(plan_rewrite(model, 0), UsageError);
}

TEST(RewritePlan, RefusesABiasThatDoesNotBroadcast) {
  for (const char* good : {"4", "1", "1,4", "2,1", "2,4", "1,1"}) {
    const OnnxModel model =
        load_text(fmt::format("(float[2,3] x, float[3,4] w, float[{}] c) => (float[2,4] y) "
                              "{{y = Gemm(x, w, c)}}",
                              good));
    EXPECT_EQ(only_layer(model).c, "c") << good;
  }
  for (const char* bad : {"2", "3", "4,1", "1,2,4", "4,2"}) {
    const auto plan = [&bad] {
      return plan_rewrite(
          load_text(fmt::format("(float[2,3] x, float[3,4] w, float[{}] c) => (float[2,4] y) "
                                "{{y = Gemm(x, w, c)}}",
                                bad)),
          64);
    };
    EXPECT_THROW(plan(), UsageError) << bad;
  }
}

}  // namespace
}  // namespace gemm64

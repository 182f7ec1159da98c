// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/rewrite.hpp"

#include "host/graph/onnx/graph_check.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/kernels/tensor.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

onnx::ModelProto tile(OnnxModel model, std::int64_t block = 64) {
  const RewritePlan plan = plan_rewrite(model, block);
  return rewrite(std::move(model), plan);
}

onnx::ModelProto tile(const std::string& graph, const std::vector<std::string>& weights,
                      std::int64_t opset = 13, const ImportOptions& options = {}) {
  return tile(load_text(graph, weights, opset, options));
}

/// Reads a rewritten model as any other file, which checks it too.
OnnxModel reload(const onnx::ModelProto& proto) {
  require_valid(proto, "tiled.onnx");
  return OnnxModel::from_proto(proto, "tiled.onnx");
}

std::map<std::string, int> operators(const onnx::ModelProto& model) {
  std::map<std::string, int> counts;
  for (const onnx::NodeProto& node : model.graph().node()) ++counts[node.op_type()];
  return counts;
}

std::vector<std::string> order(const onnx::ModelProto& model) {
  std::vector<std::string> types;
  for (const onnx::NodeProto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

const onnx::NodeProto& node_of(const onnx::ModelProto& model, const std::string& output) {
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (std::count(node.output().begin(), node.output().end(), output) != 0) return node;
  }
  throw std::runtime_error("nothing makes " + output);
}

void expect_unique_names(const onnx::ModelProto& model) {
  std::set<std::string> nodes, values;
  for (const auto& input : model.graph().input()) EXPECT_TRUE(values.insert(input.name()).second);
  for (const auto& tensor : model.graph().initializer()) {
    EXPECT_TRUE(values.insert(tensor.name()).second) << tensor.name();
  }
  for (const onnx::NodeProto& node : model.graph().node()) {
    EXPECT_TRUE(nodes.insert(node.name()).second) << node.name();
    for (const std::string& output : node.output()) {
      EXPECT_TRUE(values.insert(output).second) << output;
    }
  }
}

const char* const kRaggedGemm =
    "(float[3,130] x, float[70,130] w, float[70] c) => (float[3,70] y) "
    "{y = Gemm<transB = 1, alpha = 0.5, beta = 2.0>(x, w, c)}";

TEST(Rewrite, MakesStepsInOrder) {
  const onnx::ModelProto model = tile(kRaggedGemm, {"w", "c"});
  EXPECT_THAT(order(model),
              ElementsAre("Pad", "Split", "Transpose", "Pad", "Split", "Split", "Split", "Split",
                          "MatMul", "MatMul", "MatMul", "Sum", "MatMul", "MatMul", "MatMul", "Sum",
                          "Concat", "Slice", "Mul", "Mul", "Add"));
  expect_unique_names(model);
  EXPECT_EQ(reload(model).type("y")->dims, (Dims{3, 70}));
}

TEST(Rewrite, MultipliesBlocks) {
  const onnx::ModelProto model =
      tile("(float[200,130] x, float[130,70] w) => (float[200,70] y) {y = Gemm(x, w)}", {"w"});
  const OnnxModel loaded = reload(model);
  const onnx::NodeProto& concat_m = node_of(model, node_of(model, "y").input(0));  // below Slice
  ASSERT_EQ(concat_m.op_type(), "Concat");
  EXPECT_EQ(attribute(concat_m, "axis", std::int64_t{9}), 0);
  ASSERT_EQ(concat_m.input_size(), 4);
  for (int m = 0; m < 4; ++m) {
    const onnx::NodeProto& concat_n = node_of(model, concat_m.input(m));
    EXPECT_EQ(attribute(concat_n, "axis", std::int64_t{9}), 1);
    ASSERT_EQ(concat_n.input_size(), 2);
    for (int n = 0; n < 2; ++n) {
      const onnx::NodeProto& sum = node_of(model, concat_n.input(n));
      ASSERT_EQ(sum.op_type(), "Sum");
      ASSERT_EQ(sum.input_size(), 3);
      for (int k = 0; k < 3; ++k) {
        const onnx::NodeProto& product = node_of(model, sum.input(k));
        ASSERT_EQ(product.op_type(), "MatMul");
        // A is split along M first, then along K; B along K, then along N.
        const onnx::NodeProto& a = node_of(model, product.input(0));
        const onnx::NodeProto& b = node_of(model, product.input(1));
        EXPECT_EQ(a.output(k), product.input(0));
        EXPECT_EQ(b.output(n), product.input(1));
        EXPECT_EQ(node_of(model, a.input(0)).output(m), a.input(0));
        EXPECT_EQ(node_of(model, b.input(0)).output(k), b.input(0));
        EXPECT_EQ(loaded.type(product.input(0))->dims, (Dims{64, 64}));
        EXPECT_EQ(loaded.type(product.input(1))->dims, (Dims{64, 64}));
      }
    }
  }
}

TEST(Rewrite, KeepsSmallOperandsWhole) {
  EXPECT_THAT(order(tile("(float[5,64] x, float[10,64] w, float[10] c) => (float[5,10] y) "
                         "{y = Gemm<transB = 1>(x, w, c)}",
                         {"w", "c"})),
              ElementsAre("Transpose", "MatMul", "Add"));
  EXPECT_THAT(order(tile("(float[5,7] x, float[7,3] w) => (float[5,3] y) {y = Gemm(x, w)}", {"w"})),
              ElementsAre("MatMul"));
  // One ragged dimension and two small ones: neither is padded to the block.
  const onnx::ModelProto model =
      tile("(float[5,100] x, float[100,3] w) => (float[5,3] y) {y = Gemm(x, w)}", {"w"});
  EXPECT_THAT(order(model), ElementsAre("Pad", "Split", "Pad", "Split", "MatMul", "MatMul", "Sum"));
  const OnnxModel loaded = reload(model);
  const onnx::NodeProto& product = node_of(model, node_of(model, "y").input(1));
  EXPECT_EQ(loaded.type(product.input(0))->dims, (Dims{5, 64}));
  EXPECT_EQ(loaded.type(product.input(1))->dims, (Dims{64, 3}));
}

TEST(Rewrite, PadsNothingThatDivides) {
  const std::map<std::string, int> counts = operators(
      tile("(float[64,128] x, float[128,192] w) => (float[64,192] y) {y = Gemm(x, w)}", {"w"}));
  EXPECT_EQ(counts.count("Pad"), 0u);
  EXPECT_EQ(counts.count("Slice"), 0u);
  EXPECT_EQ(counts.at("MatMul"), 2 * 3);
}

TEST(Rewrite, TakesAnotherSizeOfBlock) {
  const onnx::ModelProto model =
      tile(load_text("(float[5,9] x, float[9,7] w) => (float[5,7] y) {y = Gemm(x, w)}", {"w"}), 4);
  EXPECT_EQ(operators(model).at("MatMul"), 2 * 3 * 2);
  const OnnxModel loaded = reload(model);
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.op_type() != "MatMul") continue;
    EXPECT_EQ(loaded.type(node.input(0))->dims, (Dims{4, 4}));
    EXPECT_EQ(loaded.type(node.input(1))->dims, (Dims{4, 4}));
  }
}

TEST(Rewrite, CutsAlexNetAsTheReference) {
  OnnxModel model = OnnxModel::from_proto(make_network("alexnet", 64, 1), "alexnet.onnx");
  const RewritePlan plan = plan_rewrite(model, 64);
  ASSERT_EQ(plan.layers.size(), 3u);
  EXPECT_EQ(plan.layers[0].matmuls(), 9216);
  EXPECT_EQ(plan.layers[1].matmuls(), 4096);
  EXPECT_EQ(plan.layers[2].matmuls(), 1024);
  EXPECT_EQ(plan.layers[2].n.padded(), 1024);
  EXPECT_EQ(plan.skipped.size(), 5u);  // convolutions
  const std::map<std::string, int> before = operators(model.proto());

  const void* weights = model.constant("classifier.1.weight")->raw_data().data();
  const onnx::ModelProto tiled = rewrite(std::move(model), plan);
  const std::map<std::string, int> after = operators(tiled);
  EXPECT_EQ(after.at("MatMul"), 14336);
  EXPECT_EQ(after.at("Sum"), 64 + 64 + 16);
  EXPECT_EQ(after.at("Concat"), 3);
  EXPECT_EQ(after.at("Transpose"), 3);
  EXPECT_EQ(after.at("Pad"), 1);
  EXPECT_EQ(after.at("Slice"), 1);
  EXPECT_EQ(after.at("Split"), (1 + 1 + 144) + 2 * (1 + 1 + 64));
  EXPECT_EQ(after.count("Gemm"), 0u);
  for (const char* untouched : {"Conv", "Relu", "MaxPool", "AveragePool", "Flatten", "Dropout"}) {
    EXPECT_EQ(after.at(untouched), before.at(untouched)) << untouched;
  }
  expect_unique_names(tiled);
  require_valid(tiled, "tiled.onnx");

  // The weights are the very same memory.
  for (const onnx::TensorProto& tensor : tiled.graph().initializer()) {
    if (tensor.name() == "classifier.1.weight") {
      EXPECT_EQ(tensor.raw_data().data(), weights);
    }
  }
}

TEST(Rewrite, CutsAlexNetAlongMFromBatch65On) {
  const RewritePlan plan =
      plan_rewrite(OnnxModel::from_proto(make_network("alexnet", 65, 1), "alexnet.onnx"), 64);
  EXPECT_EQ(plan.matmuls(), 2 * 14336);
}

TEST(Rewrite, KeepsOtherNodesInTheirPlaces) {
  const onnx::ModelProto model = tile(
      "(float[2,3] x, float[3,4] v, float[4,5] w) => (float[2,5] y) "
      "{a = Relu(x)  b = Gemm(a, v)  c = Tanh(b)  d = MatMul(c, w)  y = Sigmoid(d)}",
      {"v", "w"});
  EXPECT_THAT(order(model), ElementsAre("Relu", "MatMul", "Tanh", "MatMul", "Sigmoid"));
  EXPECT_EQ(node_of(model, "y").input(0), "d");
  EXPECT_EQ(reload(model).type("d")->dims, (Dims{2, 5}));
}

TEST(Rewrite, AvoidsNamesThatTheModelHas) {
  onnx::ModelProto proto = parse_model(
      "(float[2,3] x, float[3,4] w) => (float[2,4] y) {z = Relu(x)  y = Gemm(z, w)}", {"w"});
  proto.mutable_graph()->mutable_node(1)->set_name("layer");
  const RewritePlan plain = plan_rewrite(OnnxModel::from_proto(proto, "test.onnx"), 2);
  const onnx::ModelProto first = rewrite(OnnxModel::from_proto(proto, "test.onnx"), plain);
  const std::string taken = first.graph().node(1).name();

  proto.mutable_graph()->mutable_node(0)->set_output(0, taken);
  proto.mutable_graph()->mutable_node(1)->set_input(0, taken);
  OnnxModel model = OnnxModel::from_proto(proto, "test.onnx");
  const RewritePlan plan = plan_rewrite(model, 2);
  const onnx::ModelProto second = rewrite(std::move(model), plan);
  expect_unique_names(second);
  reload(second);
}

TEST(Rewrite, NamesLayersWithoutNames) {
  const onnx::ModelProto model =
      tile(load_text("(float[2,3] x, float[3,3] v, float[3,4] w) => (float[2,4] y) "
                     "{z = Gemm(x, v)  y = Gemm(z, w)}",
                     {"v", "w"}),
           2);
  expect_unique_names(model);
  reload(model);
}

TEST(Rewrite, ReshapesBatchesOnlyWhereMIsCut) {
  const onnx::ModelProto whole =
      tile("(float[2,32,70] x, float[70,4] w) => (float[2,32,4] y) {y = MatMul(x, w)}", {"w"});
  EXPECT_EQ(operators(whole).count("Reshape"), 0u);
  EXPECT_EQ(reload(whole).type("y")->dims, (Dims{2, 32, 4}));
  const onnx::ModelProto cut =
      tile("(float[2,33,70] x, float[70,4] w) => (float[2,33,4] y) {y = MatMul(x, w)}", {"w"});
  EXPECT_EQ(operators(cut).at("Reshape"), 2);
  EXPECT_EQ(operators(cut).at("MatMul"), 2 * 2);
  const OnnxModel loaded = reload(cut);
  EXPECT_EQ(loaded.type("y")->dims, (Dims{2, 33, 4}));
  const onnx::NodeProto& slice = node_of(cut, node_of(cut, "y").input(0));
  EXPECT_EQ(slice.op_type(), "Slice");
  EXPECT_EQ(loaded.type(slice.output(0))->dims, (Dims{66, 4}));
}

TEST(Rewrite, LeavesAnOpenBatchOpenUnlessMIsCut) {
  const std::string graph =
      "(float[batch,70] x, float[70,4] w) => (float[batch,4] y) {y = Gemm(x, w)}";
  ImportOptions options;
  for (const std::int64_t batch : {0, 64}) {
    options.batch = batch;
    const onnx::ModelProto open = tile(graph, {"w"}, 13, options);
    EXPECT_EQ(open.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
    options.batch = 7;
    EXPECT_EQ(OnnxModel::from_proto(open, "open.onnx", options).type("y")->dims, (Dims{7, 4}));
  }
  options.batch = 65;
  const onnx::ModelProto fixed = tile(graph, {"w"}, 13, options);
  for (const auto* value : {&fixed.graph().input(0), &fixed.graph().output(0)}) {
    EXPECT_EQ(value->type().tensor_type().shape().dim(0).dim_value(), 65);
  }
  EXPECT_EQ(reload(fixed).type("y")->dims, (Dims{65, 4}));
}

TEST(Rewrite, WritesGivenBatch) {
  ImportOptions options;
  options.batch = 3;
  const onnx::ModelProto model =
      tile("(float[1,70] x, float[70,4] w) => (float[1,4] y) {y = Gemm(x, w)}", {"w"}, 13, options);
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_value(), 3);
  EXPECT_EQ(reload(model).type("y")->dims, (Dims{3, 4}));
}

TEST(Rewrite, SpeaksEveryOpsetFromSevenOn) {
  for (std::int64_t opset = 7; opset <= kNewestOpset; ++opset) {
    SCOPED_TRACE(opset);
    onnx::ModelProto whole = parse_model(kRaggedGemm, {"w", "c"}, opset);
    if (opset == kNewestOpset) whole.set_ir_version(kNewestFormat);
    const onnx::ModelProto model = tile(OnnxModel::from_proto(whole, "test.onnx"));
    EXPECT_EQ(model.ir_version(), whole.ir_version());
    for (const onnx::NodeProto& node : model.graph().node()) {
      if (node.op_type() != "Split") continue;
      EXPECT_EQ(attribute(node, "num_outputs", std::int64_t{0}),
                opset < 18 ? 0 : node.output_size());
    }
    EXPECT_EQ(operators(model).at("MatMul"), 6);
    EXPECT_EQ(operators(model).at("Pad"), 2);
    EXPECT_EQ(reload(model).type("y")->dims, (Dims{3, 70}));
  }
}

TEST(Rewrite, RaisesVersionOfOldFiles) {
  OnnxModel model = OnnxModel::from_proto(
      parse_model("(float[3,70] x, float[70,4] w) => (float[3,4] y) {y = Gemm(x, w)}", {"w"}, 13,
                  3),
      "old.onnx");
  const onnx::ModelProto tiled = tile(std::move(model));
  EXPECT_EQ(tiled.ir_version(), 4);
  EXPECT_EQ(reload(tiled).inputs(), std::vector<std::string>{"x"});
}

TEST(Rewrite, KeepsAModelWithoutLinearLayersAsItIs) {
  const onnx::ModelProto before = parse_model("(float[3,70] x) => (float[3,70] y) {y = Relu(x)}");
  const onnx::ModelProto after = tile(OnnxModel::from_proto(before, "test.onnx"));
  EXPECT_EQ(after.SerializeAsString(), before.SerializeAsString());
}

}  // namespace
}  // namespace gemm64

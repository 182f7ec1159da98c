// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/quantize.hpp"

#include "host/graph/onnx/host_nodes.hpp"
#include "host/graph/passes/fold_batch_normalization.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/runtime/calibration.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/run_on_cpu.hpp"

namespace gemm64 {
namespace {

const char* const kNetwork =
    "(float[1,1,2,2] x) => (float[1,2] y) <float[2,1,1,1] w = {0.5, -2.0}, float[2] b = {1.0, 0.0},"
    " float[2,8] v = {1, 2, 3, 4, 5, 6, 7, 8, -1, 0, 0, 0, 0, 0, 0, 2.54}>"
    " {c = Conv(x, w, b) r = Relu(c) f = Flatten(r) y = Gemm <transB = 1> (f, v)}";

Tensor image(const std::vector<float>& values) { return Tensor::of<float>({1, 1, 2, 2}, values); }

OnnxModel quantized(const OnnxModel& model) {
  const Ranges ranges = calibrate(model, NetworkInputs::of({{"x", image({-1, 0, 1.55F, 0.5F})}}));
  return OnnxModel::from_proto(quantize_model(model, ranges).proto, "q.onnx");
}

std::string operators(const OnnxModel& model) {
  std::string names;
  for (const onnx::NodeProto& node : model.graph().node()) {
    names += (names.empty() ? "" : " ") + node.op_type();
  }
  return names;
}

TEST(Quantize, WritesWhatIsThenComputedOnIntegers) {
  EXPECT_EQ(operators(with_quantized_operators(quantized(load_text(kNetwork)), {})),
            "QuantizeLinear QLinearConv Flatten QGemm DequantizeLinear");
}

TEST(Quantize, TakesScalesFromRangesAndWeights) {
  const OnnxModel model = quantized(load_text(kNetwork));
  EXPECT_FLOAT_EQ(model.constant("x_scale")->float_data(0), 0.01F);
  EXPECT_EQ(model.constant("x_zero_point")->int32_data(0), 100);
  const onnx::TensorProto& scales = *model.constant("w_by_row_scale");
  EXPECT_FLOAT_EQ(scales.float_data(0), 0.5F / 127);
  EXPECT_FLOAT_EQ(scales.float_data(1), 2.0F / 127);
  EXPECT_EQ(model.constant("w_by_row_quantized")->raw_data(), std::string("\x7f\x81"));
  const onnx::TensorProto& rows = *model.constant("v_by_row_scale");
  EXPECT_FLOAT_EQ(rows.float_data(1), 0.02F);
  EXPECT_EQ(model.constant("v"), nullptr) << "float weights remain";
}

TEST(Calibrate, SeesEveryImageOfThoseThatRunInTurn) {
  const OnnxModel model = load_text(kNetwork);
  const Tensor images = Tensor::of<float>({2, 1, 2, 2}, {0, 1, 0, 0, -3, 0, 0, 5});
  const Ranges ranges = calibrate(
      model, NetworkInputs::in_passes({{"x", InputSource::of(images)}}, 2, 1, "one at a time"));
  EXPECT_EQ(ranges.at("x"), std::pair(-3.0F, 5.0F));
  EXPECT_EQ(ranges.at("r"), std::pair(0.0F, 6.0F));
}

TEST(Quantize, GivesNearlyTheSameNumbers) {
  const OnnxModel model = load_text(kNetwork);
  const OnnxModel integers = with_quantized_operators(quantized(model), {});
  const NamedTensors input{{"x", image({-0.5F, 0.25F, 1, 0.75F})}};
  const Tensor wanted = run_on_cpu(model, input).at("y");
  const Tensor found = run_on_cpu(integers, input).at("y");
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(found.values<float>()[i], wanted.values<float>()[i], 0.3) << i;
    EXPECT_NE(found.values<float>()[i], wanted.values<float>()[i]) << i;
  }
}

TEST(Quantize, RefusesWhatIsQuantizedAlready) {
  const OnnxModel model = quantized(load_text(kNetwork));
  EXPECT_THAT([&] { quantize_model(model, {}); }, Fails("q.onnx: is quantized already"));
}

/// Ranges of all values, as if calibration had seen them.
Ranges ranges_of(const OnnxModel& model) {
  Ranges ranges;
  for (const onnx::NodeProto& node : model.graph().node()) {
    for (const std::string& name : node.input()) ranges[name] = {-1, 1};
    for (const std::string& name : node.output()) ranges[name] = {-1, 1};
  }
  return ranges;
}

std::string refusal(const OnnxModel& model, const QuantizeChoice& choice = {}) {
  return message_of([&] { quantize_model(model, ranges_of(model), choice); });
}

TEST(Quantize, NeedsNoSizes) {
  const OnnxModel model = load_text(
      "(float[n,m,2] x) => (float[n,m,m] y) <int64[3] p = {0, 1, 2}>"
      " {t = Transpose <perm = [0, 2, 1]> (x) y = MatMul(x, t)}");
  const OnnxModel written =
      OnnxModel::from_proto(quantize_model(model, ranges_of(model)).proto, "q.onnx");
  EXPECT_EQ(operators(written),
            "QuantizeLinear DequantizeLinear Transpose QuantizeLinear DequantizeLinear MatMul "
            "QuantizeLinear DequantizeLinear");
}

TEST(Quantize, KeepsWhatGraphsInsideOfNodesRead) {
  onnx::ModelProto proto = parse_model(
      "(float[1,2] x, bool c) => (float[1,2] z) <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}>"
      " {y = MatMul(x, w)}");
  onnx::NodeProto& node = *proto.mutable_graph()->add_node();
  node.set_op_type("If");
  node.add_input("c");
  node.add_output("z");
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& branch = *node.add_attribute();
    branch.set_name(name);
    branch.set_type(onnx::AttributeProto::GRAPH);
    *branch.mutable_g() = parse_graph("() => (float[1,2] r) {r = Add(y, b)}");
    branch.mutable_g()->set_name(name);
  }
  const OnnxModel model = OnnxModel::from_proto(std::move(proto), "if.onnx");
  const OnnxModel written =
      OnnxModel::from_proto(quantize_model(model, ranges_of(model)).proto, "q.onnx");
  EXPECT_NE(written.constant("b"), nullptr);
}

TEST(Quantize, LeavesMasksAndWhatMayAddOne) {
  const auto quantized_of = [](const std::string& graph) {
    const OnnxModel model = load_text(graph);
    Ranges ranges = ranges_of(model);
    ranges["m"] = {-10000, -10000};
    return quantize_model(model, ranges).quantized;
  };
  const std::string head =
      "(float[2,2] x, float[2,2] k) => (float[2,2] y) <float[1] m = {-10000}>"
      " {s = MatMul(x, x) ";
  EXPECT_EQ(quantized_of(head + "h = Mul(k, m) y = Add(s, h)}"),
            (std::map<std::string, int>{{"MatMul", 1}}));
  EXPECT_EQ(quantized_of(head + "a = Add(s, k) y = Softmax(a)}"),
            (std::map<std::string, int>{{"MatMul", 1}}));
  EXPECT_EQ(quantized_of(head + "y = Add(s, k)}"),
            (std::map<std::string, int>{{"Add", 1}, {"MatMul", 1}}));
}

TEST(Quantize, RefusesWhatItCannotDo) {
  EXPECT_EQ(refusal(load_text("(float[2] x) => (float[2] y) {y = Neg(x)}"))
                .find("test.onnx: nothing in it can be quantized: it has none of Add, AveragePool"),
            0U);
  const OnnxModel model = load_text(kNetwork);
  QuantizeChoice choice;
  choice.excluded = {"c", "y"};
  EXPECT_EQ(refusal(model, choice),
            "test.onnx: nothing in it can be quantized: 1 Conv: excluded; 1 Gemm: excluded");
  choice.excluded = {"d"};
  EXPECT_EQ(refusal(model, choice), "test.onnx: has no node 'd'");
  EXPECT_EQ(refusal(load_text("(float[2] x) => (float[2] y) {y = Neg(x)}", {}, 8)),
            "test.onnx: is of opset 8; networks are quantized from opset 9 on");
}

TEST(FoldBatchNormalization, ScalesConvolution) {
  const OnnxModel model = load_text(
      "(float[1,1,1,1] x) => (float[1,2,1,1] y) <float[2,1,1,1] w = {1, 2}, float[2] g = {3, 4},"
      " float[2] b = {5, 6}, float[2] m = {7, 8}, float[2] v = {4, 16}>"
      " {c = Conv(x, w) y = BatchNormalization <epsilon = 0.0> (c, g, b, m, v)}");
  const OnnxModel folded = OnnxModel::from_proto(fold_batch_normalization(model), "f.onnx");
  EXPECT_EQ(operators(folded), "Conv");
  const NamedTensors input{{"x", Tensor::of<float>({1, 1, 1, 1}, {9})}};
  const Tensor y = run_on_cpu(folded, input).at("y");
  EXPECT_FLOAT_EQ(y.values<float>()[0], (9 - 7) / 2.0F * 3 + 5);
  EXPECT_FLOAT_EQ(y.values<float>()[1], (18 - 8) / 4.0F * 4 + 6);
}

// PyTorch exports AlexNet so unless it is in eval mode.
TEST(Quantize, LeavesDropoutsOutInTrainingModeToo) {
  const auto graph = [](const char* attributes) {
    return std::string("(float[1,1,2,2] x) => (float[1,2] y) <float[2,1,1,1] w = {0.5, -2.0}, ") +
           "float[2,8] v = {1, 2, 3, 4, 5, 6, 7, 8, -1, 0, 0, 0, 0, 0, 0, 2.54}>" +
           " {t = Constant<value_int=1>() m = Cast<to=9>(t) p = Constant<value_float=0.5>()"
           " c = Conv(x, w) d = Dropout" +
           attributes + "(c, p, m) r = Relu(d) f = Flatten(r) y = Gemm <transB = 1> (f, v)}";
  };
  const auto of = [](const OnnxModel& model) {
    return quantize_model(
        model, calibrate(model, NetworkInputs::of({{"x", image({-1, 0, 1.55F, 0.5F})}})));
  };
  const QuantizedModel inference = of(load_text(graph("")));
  EXPECT_EQ(inference.dropouts, 1);
  const OnnxModel model = OnnxModel::from_proto(inference.proto, "q.onnx");
  EXPECT_EQ(operators(with_quantized_operators(model.again({}), {})).find("Dropout"),
            std::string::npos);
  EXPECT_EQ(of(load_text(graph("<seed=3>"))).dropouts, 0) << "a seed asks for what is dropped";
}

}  // namespace
}  // namespace gemm64

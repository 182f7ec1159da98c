// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/quantized_graph.hpp"

#include "host/graph/onnx/graph_check.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/tensor.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

const std::string kConstants =
    "<float s = {0.5}, uint8 z = {0}, float t = {0.25}, uint8 o = {3}, uint8[2,2] w = {1, 2, 3, 4},"
    " uint8[2,2,1,1] f = {1, 2, 3, 4}, int32[2] b = {5, 6}, float[2] d = {1, 2}> ";

/// The operators of the rewritten graph, in order.
std::string rewritten(const std::string& inputs_and_outputs, const std::string& nodes) {
  const OnnxModel model =
      with_quantized_operators(load_text(inputs_and_outputs + kConstants + nodes), {});
  require_valid(model.proto(), "what was rewritten");
  std::string names;
  for (const onnx::NodeProto& node : model.graph().node()) {
    names += (names.empty() ? "" : " ") + node.op_type();
  }
  return names;
}

const std::string kMatrix = "(uint8[2,2] x) => (uint8[2,2] y) ";
const std::string kImage = "(uint8[1,2,4,4] x) => (uint8[1,2,4,4] y) ";

TEST(QuantizedGraph, FusesBetweenPairs) {
  EXPECT_EQ(rewritten(kMatrix,
                      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                      " m = MatMul(a, c) y = QuantizeLinear(m, t, o)}"),
            "QLinearMatMul");
  EXPECT_EQ(rewritten(kImage,
                      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(f, s, z)"
                      " e = DequantizeLinear(b, s) m = Conv(a, c, e) y = QuantizeLinear(m, t, o)}"),
            "QLinearConv");
  EXPECT_EQ(rewritten(kMatrix,
                      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                      " m = Add(a, c) y = QuantizeLinear(m, t, o)}"),
            "QLinearAdd");
}

TEST(QuantizedGraph, KeepsNamesAndOutput) {
  const OnnxModel model = with_quantized_operators(
      load_text(kMatrix + kConstants +
                "{a = DequantizeLinear(x, s, z) m = Sigmoid(a) y = QuantizeLinear(m, t, o)}"),
      {});
  ASSERT_EQ(model.graph().node_size(), 1);
  const onnx::NodeProto& node = model.graph().node(0);
  EXPECT_EQ(node.domain(), "com.microsoft");
  EXPECT_EQ(node.op_type(), "QLinearSigmoid");
  EXPECT_EQ(std::vector<std::string>(node.input().begin(), node.input().end()),
            (std::vector<std::string>{"x", "s", "z", "t", "o"}));
  EXPECT_EQ(node.output(0), "y");
}

TEST(QuantizedGraph, DropsRedundantRectifier) {
  const std::string nodes =
      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(f, s, z) m = Conv(a, c) r = Relu(m)"
      " y = QuantizeLinear(r, t, ";
  EXPECT_EQ(rewritten(kImage, nodes + "z)}"), "QLinearConv");
  EXPECT_EQ(rewritten(kImage, nodes + "o)}"),
            "DequantizeLinear DequantizeLinear Conv Relu QuantizeLinear");
}

TEST(QuantizedGraph, QuantizesFloatBias) {
  const OnnxModel model = with_quantized_operators(
      load_text(kImage + kConstants +
                "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(f, s, z)"
                " m = Conv(a, c, d) y = QuantizeLinear(m, t, o)}"),
      {});
  ASSERT_EQ(model.graph().node_size(), 1);
  const onnx::TensorProto* bias = model.constant(model.graph().node(0).input(8));
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(bias->int32_data(0), 4);  // 1 / (0.5 * 0.5)
  EXPECT_EQ(bias->int32_data(1), 8);
}

TEST(QuantizedGraph, MovesIntegersOfSameScale) {
  const std::string nodes =
      "{a = DequantizeLinear(x, s, z) m = Transpose(a) y = QuantizeLinear(m, ";
  EXPECT_EQ(rewritten(kMatrix, nodes + "s, z)}"), "Transpose");
  EXPECT_EQ(rewritten(kMatrix, nodes + "t, z)}"), "DequantizeLinear Transpose QuantizeLinear");
}

TEST(QuantizedGraph, CarriesIntegersThroughAMove) {
  EXPECT_EQ(
      rewritten(kMatrix,
                "{a = DequantizeLinear(x, s, z) r = Transpose(a) c = DequantizeLinear(w, s, z)"
                " m = MatMul(r, c) y = QuantizeLinear(m, t, o)}"),
      "Transpose QLinearMatMul");
  // Before a move that is quantized after: so is what is before it.
  EXPECT_EQ(rewritten(kMatrix,
                      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                      " m = MatMul(a, c) r = Transpose(m) y = QuantizeLinear(r, t, o)}"),
            "QLinearMatMul Transpose");
}

TEST(QuantizedGraph, LeavesFloats) {
  // Somebody else reads the product; an operator that has no quantized form; a pair by itself.
  EXPECT_EQ(rewritten("(uint8[2,2] x) => (uint8[2,2] y, float[2,2] m) ",
                      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                      " m = Add(a, c) y = QuantizeLinear(m, t, o)}"),
            "DequantizeLinear DequantizeLinear Add QuantizeLinear");
  EXPECT_EQ(
      rewritten(kMatrix, "{a = DequantizeLinear(x, s, z) m = Tanh(a) y = QuantizeLinear(m, t, o)}"),
      "DequantizeLinear Tanh QuantizeLinear");
  EXPECT_EQ(rewritten(kMatrix, "{a = DequantizeLinear(x, s, z) y = QuantizeLinear(a, t, o)}"),
            "DequantizeLinear QuantizeLinear");
}

TEST(QuantizedGraph, MakesFloatsOfProducts) {
  EXPECT_EQ(rewritten("(uint8[2,2] x) => (float[2,2] y) ",
                      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                      " y = MatMul(a, c)}"),
            "MatMulIntegerToFloat");
  EXPECT_EQ(rewritten("(uint8[2,2] x) => (float[2,2] y) ",
                      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                      " e = DequantizeLinear(b, s) y = Gemm(a, c, e)}"),
            "QGemm");
}

TEST(QuantizedGraph, MakesOnePairOfTwo) {
  const OnnxModel model = with_quantized_operators(
      load_text("(float[2] x) => (float[2] y) " + kConstants +
                "{a = QuantizeLinear(x, s, z) c = DequantizeLinear(a, s, z)"
                " e = QuantizeLinear(c, t, o) y = DequantizeLinear(e, t, o)}"),
      {});
  ASSERT_EQ(model.graph().node_size(), 2);
  // 0 to 127.5, and -0.75 to 63: 0 to 63.
  const onnx::TensorProto* scale = model.constant(model.graph().node(0).input(1));
  ASSERT_NE(scale, nullptr);
  EXPECT_FLOAT_EQ(scale->float_data(0), 63.0F / 255);
  EXPECT_EQ(model.constant(model.graph().node(1).input(2))->int32_data(0), 0);
}

TEST(QuantizedGraph, JoinsQuantizesThatAreTheSame) {
  const std::string linear =
      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z) m = MatMul(a, c)"
      " q = QuantizeLinear(m, t, o) r = QuantizeLinear(m, ";
  const std::string end = ", o) y = Transpose(q) v = Transpose(r)}";
  const std::string two = "(uint8[2,2] x) => (uint8[2,2] y, uint8[2,2] v) ";
  EXPECT_EQ(rewritten(two, linear + "t" + end), "QLinearMatMul Transpose Transpose");
  EXPECT_EQ(rewritten(two, linear + "s" + end),
            "DequantizeLinear DequantizeLinear MatMul QuantizeLinear QuantizeLinear Transpose "
            "Transpose");
}

TEST(QuantizedGraph, QuantizesOutputReadByTranspose) {
  const auto nodes = [](const std::string& move, const std::string& output) {
    return rewritten("(uint8[2,2] x) => (uint8[2,2] y, float[2,2] " + output + ") ",
                     "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)"
                     " m = MatMul(a, c) n = " +
                         move + "(m) y = QuantizeLinear(n, t, o)}");
  };
  EXPECT_EQ(nodes("Transpose", "m"), "QLinearMatMul Transpose DequantizeLinear");
  EXPECT_EQ(nodes("Flatten", "m"), "MatMulIntegerToFloat Flatten QuantizeLinear");
  EXPECT_EQ(nodes("Transpose", "n"), "MatMulIntegerToFloat Transpose QuantizeLinear");
}

TEST(QuantizedGraph, WritesSplitAsSlices) {
  const std::string to = "(uint8[1,3,4,4] x) => (uint8[1,1,4,4] y, uint8[1,2,4,4] u) ";
  const std::string nodes =
      "{a = DequantizeLinear(x, s, z) m, n = Split <axis = -3> (a, sizes)"
      " y = QuantizeLinear(m, s, z) u = QuantizeLinear(n, s, z)}";
  std::string constants = kConstants;
  constants.insert(1, "int64[2] sizes = {1, 2}, ");
  const OnnxModel model = with_quantized_operators(load_text(to + constants + nodes), {});
  require_valid(model.proto(), "what was rewritten");
  ASSERT_EQ(model.graph().node_size(), 2);
  for (const int i : {0, 1}) {
    const onnx::NodeProto& node = model.graph().node(i);
    EXPECT_EQ(node.op_type(), "Slice");
    EXPECT_EQ(node.input(0), "x") << "integers move";
    EXPECT_EQ(node.output(0), i == 0 ? "y" : "u");
    EXPECT_EQ(model.integers(node.input(1)), std::vector<std::int64_t>{i});
    EXPECT_EQ(model.integers(node.input(2)), std::vector<std::int64_t>{i == 0 ? 1 : 3});
    EXPECT_EQ(model.integers(node.input(3)), std::vector<std::int64_t>{1});
  }
}

TEST(QuantizedGraph, LeavesUnevenSplitInFloat) {
  const std::string to = "(uint8[1,4,4,4] x) => (uint8[1,2,4,4] y, float[1,2,4,4] u) ";
  const auto found = [&](const std::string& parts) {
    const OnnxModel model = with_quantized_operators(
        load_text(to + kConstants + "{a = DequantizeLinear(x, s, z) m, n = Split <axis = 1> (a)" +
                  parts + "}"),
        {});
    return std::count_if(model.graph().node().begin(), model.graph().node().end(),
                         [](const auto& node) { return node.op_type() == "Split"; });
  };
  const std::string again = " q = QuantizeLinear(n, s, z) u = DequantizeLinear(q, s, z)";
  EXPECT_EQ(found(" y = QuantizeLinear(m, s, z)" + again), 0);
  EXPECT_EQ(found(" y = QuantizeLinear(m, s, z) u = Sigmoid(n)"), 1);
  EXPECT_EQ(found(" y = QuantizeLinear(m, t, z)" + again), 1) << "another scale";
}

TEST(QuantizedGraph, LeavesFilesWithoutPairs) {
  EXPECT_EQ(rewritten("(float[2,2] x) => (float[2,2] y) ", "{a = Relu(x) y = Tanh(a)}"),
            "Relu Tanh");
}

/// The integers of the bias that a Conv of scales 0.5 and 0.5 becomes; empty if it stays in float.
std::vector<std::int64_t> fused_bias(const std::string& bias) {
  const OnnxModel model = with_quantized_operators(
      load_text(
          kImage +
          "<float s = {0.5}, uint8 z = {0}, uint8[2,2,1,1] f = {1, 2, 3, 4}, int32[2] b = {5, 6},"
          " int32 zero = {0}, int32 three = {3}, float same = {0.25}, float close = {0.2524},"
          " float off = {0.2526}, float half = {0.125}, float twice = {0.5},"
          " float[2] two = {0.25, 0.5}, float[2] shares = {0.25, 0.26}> "
          "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(f, s, z)"
          " e = DequantizeLinear <axis = 0> (" +
          bias + ") m = Conv(a, c, e) y = QuantizeLinear(m, s, z)}"),
      {});
  if (model.graph().node(0).op_type() != "QLinearConv") return {};
  return *integer_values(*model.constant(model.graph().node(0).input(8)), 2);
}

TEST(QuantizedGraph, FusesABiasOnlyInStepsOfTheSums) {
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(fused_bias("b, same"), (Integers{5, 6}));
  EXPECT_EQ(fused_bias("b, same, zero"), (Integers{5, 6}));
  EXPECT_EQ(fused_bias("b, close"), (Integers{5, 6})) << "ONNX Runtime allows 1 %";
  EXPECT_EQ(fused_bias("b, off"), Integers{});
  EXPECT_EQ(fused_bias("b, shares"), Integers{});
  EXPECT_EQ(fused_bias("b, same, three"), Integers{});
  EXPECT_EQ(fused_bias("b, twice"), (Integers{10, 12})) << "exact in other steps";
  EXPECT_EQ(fused_bias("b, two"), (Integers{5, 12}));
  EXPECT_EQ(fused_bias("b, half"), Integers{}) << "5 is odd";
}

TEST(QuantizedGraph, LeavesGemmWithFactorInFloat) {
  const auto gemm = [](const std::string& attributes, const std::string& bias) {
    return rewritten(kMatrix, "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, s, z)" +
                                  std::string(bias.empty() ? "" : " e = DequantizeLinear(b, s)") +
                                  " m = Gemm " + attributes + " (a, c" + bias +
                                  ") y = QuantizeLinear(m, t, o)}");
  };
  EXPECT_EQ(gemm("", ", e"), "QGemm");
  EXPECT_EQ(gemm("<alpha = 2.0>", ""), "QGemm");
  EXPECT_EQ(gemm("<beta = 2.0>", ""), "QGemm");
  const std::string in_float =
      "DequantizeLinear DequantizeLinear DequantizeLinear Gemm QuantizeLinear";
  EXPECT_EQ(gemm("<alpha = 2.0>", ", e"), in_float);
  EXPECT_EQ(gemm("<beta = 2.0>", ", e"), in_float);
}

TEST(QuantizedGraph, EliminatesEmptyNodes) {
  const auto between = [](const std::string& node) {
    std::string constants = kConstants;
    constants.insert(1,
                     "float none = {0}, float one = {1}, float[2,1,1] ones = {1, 1},"
                     " float[1,1,1,1,1] deep = {1}, int64[1] size = {1}, int64[3] own = {2, 1, 4},"
                     " int64[1] three = {3}, bool yes = {1}, bool no = {0}, float half = {0.5}, ");
    const OnnxModel model = with_quantized_operators(
        load_text(
            kImage + constants +
            "{a = DequantizeLinear(x, s, z) c = DequantizeLinear(f, s, z) m = Conv(a, c) n = " +
            node + " y = QuantizeLinear(n, t, o)}"),
        {});
    return model.graph().node_size() == 1;
  };
  for (const char* nothing : {"Identity(m)", "Dropout(m)", "Dropout(m, half, no)", "Mul(m, one)",
                              "Mul(one, m)", "Div(m, one)", "Add(none, m)", "Sub(m, none)",
                              "Cast <to = 1> (m)", "Expand(m, size)", "Expand(m, own)"}) {
    EXPECT_TRUE(between(nothing)) << nothing;
  }
  for (const char* something : {"Dropout(m, half, yes)", "Mul(m, half)", "Mul(m, ones)",
                                "Div(one, m)", "Sub(none, m)", "Add(m, one)", "Neg(m)"}) {
    EXPECT_FALSE(between(something)) << something;
  }
}

TEST(QuantizedGraph, MakesOnePairAcrossIdentity) {
  const OnnxModel model = with_quantized_operators(
      load_text("(float[2] x) => (float[2] y) " + kConstants +
                "{a = QuantizeLinear(x, s, z) c = DequantizeLinear(a, s, z) i = Identity(c)"
                " e = QuantizeLinear(i, t, o) y = DequantizeLinear(e, t, o)}"),
      {});
  EXPECT_EQ(model.graph().node_size(), 2);
}

TEST(QuantizedGraph, TransposesPerChannelWeights) {
  const std::string nodes =
      "{a = DequantizeLinear(x, s, z) c = DequantizeLinear <axis = -1> (k, each, zeros)"
      " r = Transpose <perm = [3, 2, 1, 0]> (c) m = Conv(a, r) y = QuantizeLinear(m, t, o)}";
  std::string constants = kConstants;
  constants.insert(1,
                   "uint8[1,1,2,3] k = {1, 2, 3, 4, 5, 6}, float[3] each = {0.5, 1, 2},"
                   " uint8[3] zeros = {0, 0, 0}, ");
  const OnnxModel model = with_quantized_operators(
      load_text("(uint8[1,2,4,4] x) => (uint8[1,3,4,4] y) " + constants + nodes), {});
  ASSERT_EQ(model.graph().node_size(), 1);
  const onnx::NodeProto& node = model.graph().node(0);
  EXPECT_EQ(node.op_type(), "QLinearConv");
  const onnx::TensorProto* weights = model.constant(node.input(3));
  ASSERT_NE(weights, nullptr);
  EXPECT_EQ(std::vector<std::int64_t>(weights->dims().begin(), weights->dims().end()),
            (std::vector<std::int64_t>{3, 2, 1, 1}));
  EXPECT_EQ(Tensor::from_proto(*weights).values<std::uint8_t>()[1], 4) << "channel 0, input 1";
}

TEST(QuantizedGraph, QuantizesFloatWeights) {
  const auto nodes = [](const std::string& node, const std::string& after) {
    return "{a = DequantizeLinear(x, s, z) m = " + node + " " + after + "}";
  };
  std::string constants = kConstants;
  constants.insert(1, "float[2,2,1,1] v = {-1, 0, 1, 1.55}, ");
  const std::string image = kImage + constants;
  const OnnxModel model = with_quantized_operators(
      load_text(image + nodes("Conv(a, v, d)", "y = QuantizeLinear(m, t, o)")), {});
  ASSERT_EQ(model.graph().node_size(), 1);
  const onnx::NodeProto& node = model.graph().node(0);
  ASSERT_EQ(node.op_type(), "QLinearConv");
  EXPECT_FLOAT_EQ(model.constant(node.input(4))->float_data(0), 0.01F);  // 2.55 in 255 steps
  EXPECT_EQ(model.constant(node.input(5))->int32_data(0), -28);          // -128 + 100
  EXPECT_EQ(model.constant(node.input(8))->int32_data(1), 400);          // 2 / (0.5 * 0.01)
  const auto operators = [&](const std::string& text) {
    std::string names;
    const OnnxModel other = with_quantized_operators(load_text(image + text), {});
    for (const auto& one : other.graph().node()) names += one.op_type() + " ";
    return names;
  };
  EXPECT_EQ(
      operators(nodes("ConvTranspose(a, v, d)", "r = Relu(m) y = QuantizeLinear(r, t, o)")),
      "DequantizeLinear DequantizeLinear DequantizeLinear ConvTranspose Relu QuantizeLinear ");
  EXPECT_EQ(operators(nodes("Conv(a, v, d)", "r = Tanh(m) y = QuantizeLinear(r, t, o)")),
            "DequantizeLinear Conv Tanh QuantizeLinear ");
}

}  // namespace
}  // namespace gemm64

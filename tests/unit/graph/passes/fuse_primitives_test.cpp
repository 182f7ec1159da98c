// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_primitives.hpp"

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

/// The operators in order, each after what it reads first.
std::string joined(const std::string& nodes, const std::string& outputs = "float[2,4] y") {
  const OnnxModel model = fuse_primitives(load_text(
      "(float[2,4] x, float[4] w, float[4] b) => (" + outputs +
          ") <float one = {1}, float two = {2}, float three = {3}, float half = {0.5}, "
          "float small = {0.00001}, float root = {1.4142135}, float c = {0.044715}, float "
          "k = {0.79788456}, int64[1] last = {-1}, int64[1] first = {0}> {" +
          nodes + "}",
      {"w", "b"}, 18));
  std::string text;
  for (const onnx::NodeProto& node : model.graph().node()) {
    text += (text.empty() ? "" : " ") + node.op_type() + "(" + node.input(0) + ")";
  }
  return text;
}

const std::string kMean = "s = Pow(x, two) m = ReduceMean(s, last) e = Add(m, small) r = Sqrt(e) ";
const std::string kDistance =
    "n = ReduceMean(x, last) d = Sub(x, n) s = Pow(d, two) m = ReduceMean(s, last) "
    "e = Add(m, small) r = Sqrt(e) q = Div(d, r) ";
const std::string kTanh =
    "p = Pow(x, three) u = Mul(p, c) v = Add(x, u) t = Mul(v, k) h = Tanh(t) o = Add(h, one) ";
const std::string kErf = "p = Div(x, root) h = Erf(p) o = Add(h, one) ";

TEST(FusePrimitives, MakesRmsNormalization) {
  const std::string wanted = "SimplifiedLayerNormalization(x)";
  EXPECT_EQ(joined(kMean + "i = Div(one, r) q = Mul(x, i) y = Mul(w, q)"), wanted);
  EXPECT_EQ(joined(kMean + "i = Div(one, r) q = Mul(i, x) y = Mul(q, w)"), wanted);
  EXPECT_EQ(joined(kMean + "q = Div(x, r) y = Mul(q, w)"), wanted);
  EXPECT_EQ(joined("z = Cast<to = 1>(x) s = Mul(z, z) m = ReduceMean(s, last) e = Add(small, m) "
                   "r = Sqrt(e) q = Div(z, r) y = Mul(q, w)"),
            "Cast(x) " + wanted)
      << "a Cast that changes nothing";
}

TEST(FusePrimitives, MakesALayerNormalization) {
  EXPECT_EQ(joined(kDistance + "z = Mul(q, w) y = Add(z, b)"), "LayerNormalization(x)");
  EXPECT_EQ(joined(kDistance + "z = Mul(w, q) y = Add(b, z)"), "LayerNormalization(x)");
  EXPECT_EQ(joined(kDistance + "z = Mul(q, w) t = Add(z, b) y = Add(t, d)"),
            "ReduceMean(x) Sub(x) SimplifiedLayerNormalization(d) Add(z) Add(t)")
      << "the distance from the mean is read elsewhere";
}

TEST(FusePrimitives, MakesGelus) {
  EXPECT_EQ(joined(kTanh + "f = Mul(x, half) y = Mul(f, o)"), "FastGelu(x)");
  EXPECT_EQ(joined(kTanh + "f = Mul(x, o) y = Mul(f, half)"), "FastGelu(x)");
  EXPECT_EQ(joined(kErf + "f = Mul(x, half) y = Mul(f, o)"), "Gelu(x)");
  EXPECT_EQ(joined(kErf + "f = Mul(o, x) y = Mul(half, f)"), "Gelu(x)");
}

TEST(FusePrimitives, DividesIfInverseIsMultiplied) {
  EXPECT_EQ(joined("i = Div(one, x) y = Mul(i, x)"), "Div(x)");
  EXPECT_EQ(joined("i = Div(two, x) y = Mul(i, x)"), "Div(two) Mul(i)");
  EXPECT_EQ(joined("i = Div(one, x) z = Mul(i, x) y = Add(z, i)"), "Div(one) Mul(i) Add(z)");
}

TEST(FusePrimitives, LeavesDequantizedValues) {
  EXPECT_EQ(joined("g = QuantizeLinear(x, half) z = DequantizeLinear(g, half) s = Pow(z, two) "
                   "m = ReduceMean(s, last) e = Add(m, small) r = Sqrt(e) i = Div(one, r) "
                   "q = Mul(z, i) y = Mul(w, q)"),
            "QuantizeLinear(x) DequantizeLinear(g) Pow(z) ReduceMean(s) Add(m) Sqrt(e) Div(z) "
            "Mul(w)");
}

TEST(FusePrimitives, LeavesWhatIsSomethingElse) {
  const auto is_left = [](const std::string& nodes, const std::string& outputs = "float[2,4] y") {
    const std::string found = joined(nodes, outputs);
    return found.find("Normalization") == std::string::npos &&
           found.find("Gelu") == std::string::npos;
  };
  EXPECT_TRUE(is_left(kMean + "q = Div(x, r) y = Mul(q, w)", "float[2,4] y, float[2,1] r"))
      << "an output is between";
  EXPECT_TRUE(is_left(kMean + "q = Div(x, r) t = Mul(q, w) y = Add(t, q)")) << "read twice";
  EXPECT_TRUE(
      is_left("s = Pow(x, two) m = ReduceMean(s, first) e = Add(m, small) r = Sqrt(e) "
              "q = Div(x, r) y = Mul(q, w)"))
      << "over another axis";
  EXPECT_TRUE(
      is_left("s = Pow(x, three) m = ReduceMean(s, last) e = Add(m, small) r = Sqrt(e) "
              "q = Div(x, r) y = Mul(q, w)"));
  EXPECT_TRUE(is_left(kMean + "z = Neg(x) q = Div(z, r) y = Mul(q, w)"));
  EXPECT_TRUE(is_left(kMean + "q = Div(x, r) y = Mul(q, x)")) << "no constant";
  EXPECT_TRUE(is_left(kErf + "f = Mul(x, two) y = Mul(f, o)"));
  EXPECT_TRUE(is_left(kErf + "f = Mul(h, half) y = Mul(f, o)"));
}

}  // namespace
}  // namespace gemm64

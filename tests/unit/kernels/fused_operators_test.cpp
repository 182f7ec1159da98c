// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's own operators on values worked out by hand, and what they refuse.
// tests/onnxruntime compares others with ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/says.hpp"
#include "tests/unit/execute/run_node.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

void expect_refusal(const std::string& node, const Tensors& inputs, const char* why) {
  EXPECT_THAT([&] { run_node(node, inputs); }, Fails(why));
}

std::string bits_node(const std::string& more) {
  return "y = com.microsoft.MatMulNBits <K = 16, N = 1, block_size = 16" + more + "> (a, b, s, z)";
}

TEST(MatMulNBits, TakesTheLowHalfOfAByteFirstAndEightAsZero) {
  std::vector<std::uint8_t> packed(8, 0x88);
  packed[0] = 0xF9;  // 1 and 7
  const Tensor weights = Tensor::of<std::uint8_t>({1, 1, 8}, packed);
  std::vector<float> a(16, 5);
  a[0] = 2;
  a[1] = 3;
  const Tensors inputs{floats({1, 16}, a), weights, floats({1}, {0.5F})};
  const Tensor y = run_node(
      "y = com.microsoft.MatMulNBits <K = 16, N = 1, block_size = 16> (a, b, s)", inputs)[0];
  EXPECT_THAT(values_of<float>(y), ElementsAre((2 * 1 + 3 * 7) * 0.5F));
}

TEST(MatMulNBits, QuantizesEachBlockOfARowWhereTheFileSaysSo) {
  std::vector<std::uint8_t> packed(8, 0x88);
  packed[0] = 0xF9;  // 1 and 7
  const Tensor weights = Tensor::of<std::uint8_t>({1, 1, 8}, packed);
  std::vector<float> a(16, 0);
  a[0] = 127;
  a[1] = 3.4F;  // 3 steps of 1
  const std::string node =
      "y = com.microsoft.MatMulNBits <K = 16, N = 1, block_size = 16, accuracy_level = 4> (a, b, "
      "s)";
  const Tensor scale = floats({1}, {0.5F});
  const Tensor y = run_node(node, {floats({1, 16}, a), weights, scale})[0];
  EXPECT_THAT(values_of<float>(y), ElementsAre((127 * 1 + 3 * 7) * 0.5F));
  a[2] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(
      std::isnan(values_of<float>(run_node(node, {floats({1, 16}, a), weights, scale})[0])[0]));
}

TEST(MatMulNBits, RefusesWhatDoesNotFit) {
  const Tensor a = floats({1, 16}, std::vector<float>(16));
  const Tensor few = Tensor::of<std::uint8_t>({1, 1, 4}, {0, 0, 0, 0});
  expect_refusal(bits_node(""), {a, few, floats({1}, {1}), {}}, "should hold 8 values");
  expect_refusal(bits_node(", bits = 3"), {a, few, floats({1}, {1}), {}}, "weights of 3 bits");
  expect_refusal(
      "y = com.microsoft.MatMulNBits <K = 4611686018427387904, N = 2, block_size = 16> (a, b, s)",
      {a, few, floats({1}, {1})}, "at most 16777216");
}

TEST(EmbedLayerNormalization, TakesAMaskOfOneSequenceForNone) {
  const Tensor none(onnx::TensorProto::INT32, {0, 2});
  const Tensor mask = Tensor::of<std::int32_t>({1, 2}, {1, 1});
  const Tensor table = floats({1, 2}, {1, 2}), row = floats({2}, {1, 1});
  const Tensors y =
      run_node("y, counts = com.microsoft.EmbedLayerNormalization (i, s, w, p, t, g, b, m)",
               {none, none, table, table, table, row, row, mask});
  EXPECT_EQ(y[0].dims(), (Dims{0, 2, 2}));
  EXPECT_EQ(y[1].elements(), 0);
}

TEST(EmbedLayerNormalization, RefusesANumberThatIsNoRow) {
  const Tensor ids = Tensor::of<std::int32_t>({1, 1}, {-1});
  const Tensor table = floats({1, 2}, {1, 2}), row = floats({2}, {1, 1});
  expect_refusal("y = com.microsoft.EmbedLayerNormalization (i, s, w, p, t, g, b)",
                 {ids, Tensor(), table, table, Tensor(), row, row}, "has no row -1");
}

TEST(FusedMatMul, MovesTheFirstAxisBehindTheBatch) {
  const Tensor a = floats({2, 3, 1}, {1, 2, 3, 4, 5, 6});  // 2 rows of 3 matrices
  const Tensor b = floats({3, 1, 1}, {1, 10, 100});
  const Tensor y =
      run_node("y = com.microsoft.FusedMatMul <transBatchA = 1, alpha = 2.0> (a, b)", {a, b})[0];
  EXPECT_EQ(y.dims(), (Dims{3, 2, 1}));
  EXPECT_THAT(values_of<float>(y), ElementsAre(2, 8, 40, 100, 600, 1200));
}

TEST(GroupQueryAttention, GivesTheOneKeyThatAQueryMaySee) {
  const Tensor one = floats({1, 1, 2}, {3, 4});
  const Tensor end = Tensor::of<std::int32_t>({1}, {0}), total = Tensor::of<std::int32_t>({}, {1});
  const std::string node =
      "y, k, v = com.microsoft.GroupQueryAttention <num_heads = 1, kv_num_heads = 1> (q, a, b, c, "
      "d, e, f)";
  const Tensors y = run_node(node, {one, one, one, Tensor(), Tensor(), end, total});
  EXPECT_THAT(values_of<float>(y[0]), ElementsAre(3, 4));
  EXPECT_EQ(y[1].dims(), (Dims{1, 1, 1, 2}));
  const Tensor huge = Tensor::of<std::int32_t>({}, {2'000'000'000});
  expect_refusal(node, {one, one, one, Tensor(), Tensor(), end, huge}, "2000000000 keys in all");
}

TEST(Attention, SetsThePastOfEachHeadBeforeItsKeysAndValues) {
  const auto heads = [](float first) {  // of one value, a key each
    return floats({1, 2, 1, 1}, {first, first + 1});
  };
  const Tensor past = floats({1, 2, 2, 1}, {10, 11, 12, 13});
  const Tensors y = run_node("y, k, v = Attention (q, k, v, m, pk, pv)",
                             {heads(0), heads(1), heads(3), Tensor(), past, past}, 23);
  EXPECT_EQ(y[1].dims(), (Dims{1, 2, 3, 1}));
  EXPECT_THAT(values_of<float>(y[1]), ElementsAre(10, 11, 1, 12, 13, 2));
  EXPECT_THAT(values_of<float>(y[2]), ElementsAre(10, 11, 3, 12, 13, 4));
}

TEST(Attention, CapsTheProductsWhereTheFileSaysSo) {
  const Tensor q = floats({1, 1, 1, 1}, {1}), k = floats({1, 1, 2, 1}, {0, 10});
  const Tensor v = floats({1, 1, 2, 1}, {0, 1});
  const auto y = [&](const std::string& more) {
    return values_of<float>(
        run_node("y = Attention <scale = 1.0" + more + "> (q, k, v)", {q, k, v}, 23)[0])[0];
  };
  EXPECT_FLOAT_EQ(y(""), 1 / (1 + std::exp(-10.0F)));
  EXPECT_FLOAT_EQ(y(", softcap = 2.0"), 1 / (1 + std::exp(-2 * std::tanh(5.0F))));
}

TEST(MultiHeadAttention, RefusesPackedInputsByName) {
  const Tensor x = floats({1, 1, 2}, {1, 2});
  expect_refusal("y = com.microsoft.MultiHeadAttention <num_heads = 1> (q)", {x},
                 "packed into one input");
  expect_refusal("y = com.microsoft.MultiHeadAttention <num_heads = 0> (q, k, v)", {x, x, x},
                 "num_heads is 0");
  expect_refusal("y = com.microsoft.MultiHeadAttention <num_heads = 3> (q, k, v)", {x, x, x},
                 "no sequence of 3 heads");
}

}  // namespace
}  // namespace gemm64

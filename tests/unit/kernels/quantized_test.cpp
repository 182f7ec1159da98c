// SPDX-License-Identifier: Apache-2.0
// Quantized operators on values worked out by hand: which way ties go, and where the zero point is
// added. tests/onnxruntime compares thousands of others with ONNX Runtime.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "host/kernels/integer_rows.hpp"
#include "host/kernels/quantization.hpp"
#include "host/numerics/reference.hpp"
#include "tests/says.hpp"
#include "tests/unit/execute/run_node.hpp"

namespace gemm64 {
namespace {

using Bytes = std::vector<std::uint8_t>;

Tensor bytes(const Dims& dims, const Bytes& values) {
  return Tensor::of<std::uint8_t>(dims, values);
}
Tensor scale(float value) { return Tensor::of<float>({}, {value}); }
Tensor zero(int value) { return Tensor::of<std::uint8_t>({}, {static_cast<std::uint8_t>(value)}); }

Bytes result(const std::string& node, const Tensors& inputs) {
  return values_of<std::uint8_t>(run_node(node, inputs)[0]);
}

TEST(ToQuantized, RoundsTiesToEvenBeforeTheZeroPointIsAdded) {
  EXPECT_EQ(to_quantized<std::int8_t>(0.5F, 0), 0);
  EXPECT_EQ(to_quantized<std::int8_t>(1.5F, 0), 2);
  EXPECT_EQ(to_quantized<std::int8_t>(-2.5F, 0), -2);
  EXPECT_EQ(to_quantized<std::int8_t>(0.5F, 1), 1);
  EXPECT_EQ(to_quantized<std::int8_t>(1.5F, 1), 3);
}

TEST(ToQuantized, ClampsWhatIsBeyondTheType) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_quantized<std::int8_t>(1e30F, 3), 127);
  EXPECT_EQ(to_quantized<std::int8_t>(-kInfinity, 3), -128);
  EXPECT_EQ(to_quantized<std::uint8_t>(-0.6F, 0), 0);
  EXPECT_EQ(to_quantized<std::uint8_t>(std::nanf(""), 7), 0);
}

TEST(MultiplyRows, GivesTheSumsOfAnyNumberOfRowsOfAnyLength) {
  std::mt19937 random(1);
  for (const std::int64_t length : {1, 7, 8, 9, 64, 577}) {
    for (const std::int64_t count : {1, 2, 3, 4, 5, 11}) {
      IntegerRows a(count, length), b(13 - count, length);
      for (IntegerRows* rows : {&a, &b}) {
        for (std::int64_t row = 0; row < rows->rows(); ++row) {
          for (std::int64_t k = 0; k < length; ++k) {
            rows->row(row)[k] = static_cast<std::int16_t>(static_cast<int>(random() % 511) - 255);
          }
        }
      }
      std::vector<std::int32_t> sums(static_cast<std::size_t>(count * 20), -1);
      multiply_rows(a, b, b.rows(), sums.data(), 20);
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < 20; ++j) {
          std::int32_t wanted = j < b.rows() ? 0 : -1;
          for (std::int64_t k = 0; k < length && j < b.rows(); ++k)
            wanted += a.row(i)[k] * b.row(j)[k];
          ASSERT_EQ(sums[static_cast<std::size_t>(i * 20 + j)], wanted) << i << ", " << j;
        }
      }
    }
  }
}

TEST(Quantized, LinearDividesRoundsAndMoves) {
  EXPECT_EQ(result("y = QuantizeLinear (x, s, z)",
                   {floats({5}, {0.5F, 1.5F, -1.5F, 1000, -1000}), scale(1), zero(3)}),
            (Bytes{3, 5, 1, 255, 0}));
  EXPECT_EQ(result("y = QuantizeLinear <axis = 0> (x, s, z)",
                   {floats({2, 2}, {1, 2, 1, 2}), floats({2}, {0.5F, 0.25F}), bytes({2}, {0, 10})}),
            (Bytes{2, 4, 14, 18}));
}

TEST(Quantized, DynamicLinearTakesTheRangeOfItsValues) {
  const Tensors found =
      run_node("y, s, z = DynamicQuantizeLinear (x)", {floats({3}, {-1, 0, 1.55F})});
  EXPECT_EQ(values_of<std::uint8_t>(found[0]), (Bytes{0, 100, 255}));
  EXPECT_FLOAT_EQ(found[1].values<float>()[0], 0.01F);
  EXPECT_EQ(found[2].values<std::uint8_t>()[0], 100);
}

TEST(Quantized, MatMulScalesExactSums) {
  // (2 - 1) * (4 - 2) + (3 - 1) * (5 - 2) = 8, times 0.5 * 0.5 / 0.25, plus 10.
  EXPECT_EQ(result("y = QLinearMatMul (a, s, z, b, t, w, u, o)",
                   {bytes({1, 2}, {2, 3}), scale(0.5F), zero(1), bytes({2, 1}, {4, 5}), scale(0.5F),
                    zero(2), scale(0.25F), zero(10)}),
            (Bytes{18}));
}

TEST(Quantized, ConvolutionsSeeTheZeroPointInThePadding) {
  const Tensor x = bytes({1, 1, 3, 3}, Bytes(9, 7));
  const Tensor weights = bytes({1, 1, 3, 3}, Bytes(9, 1));
  const Tensor bias = Tensor::of<std::int32_t>({1}, {1});
  EXPECT_EQ(result("y = QLinearConv <pads = [1, 1, 1, 1]> (x, s, z, w, t, v, u, o, b)",
                   {x, scale(1), zero(5), weights, scale(1), zero(0), scale(1), zero(0), bias}),
            (Bytes{9, 13, 9, 13, 19, 13, 9, 13, 9}));
}

TEST(Quantized, ConvolutionsScaleEachChannel) {
  EXPECT_EQ(result("y = QLinearConv (x, s, z, w, t, v, u, o)",
                   {bytes({1, 1, 1, 1}, {10}), scale(1), zero(0), bytes({2, 1, 1, 1}, {3, 3}),
                    floats({2}, {1, 0.5F}), zero(0), scale(1), zero(1)}),
            (Bytes{31, 16}));
}

TEST(ConvInteger, KeepsImagesAndGroupsApart) {
  const Tensor x = Tensor::of<std::uint8_t>({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor weights = Tensor::of<std::uint8_t>({6, 1, 1, 1}, {1, 10, 100, 2, 20, 200});
  const onnx::NodeProto node = parse_node("y = ConvInteger <group = 2> (x, w)");
  const IntegerProduct elsewhere = [](const MatrixI8& a, const MatrixI8& b) {
    return reference_gemm(a, b);
  };
  const IntegerProduct* const here = nullptr;
  for (const IntegerProduct* const product : {here, &elsewhere}) {
    const NodeContext context{&node, "the node", 13, product};
    const Tensor y = compute(*find_operator("", "ConvInteger"), context, {x, weights})[0];
    EXPECT_EQ(y.dims(), (Dims{2, 6, 1, 2}));
    EXPECT_EQ(
        values_of<std::int32_t>(y),
        (std::vector<std::int32_t>{1, 2, 10, 20, 100, 200, 6,  8,  60,  80,  600,  800,  // image 0
                                   5, 6, 50, 60, 500, 600, 14, 16, 140, 160, 1400, 1600}));
  }
}

TEST(Quantized, RefusesScalesAndZeroPointsThatAreNone) {
  const auto refusal = [](const Tensor& s, const Tensor& z) {
    return message_of([&] {
      run_node(
          "y = QLinearMatMul (a, s, z, b, t, w, u, o)",
          {bytes({1, 1}, {2}), s, z, bytes({1, 1}, {4}), scale(1), zero(0), scale(1), zero(0)});
    });
  };
  EXPECT_EQ(refusal(scale(1), zero(0)), "");
  EXPECT_THAT(refusal(floats({1, 1}, {1}), zero(0)), Says("a scale is"));
  EXPECT_THAT(refusal(floats({0}, {}), zero(0)), Says("a scale is"));
  EXPECT_THAT(refusal(Tensor::of<double>({}, {1}), zero(0)), Says("a scale is"));
  EXPECT_THAT(refusal(scale(1), bytes({1, 1}, {0})), Says("a zero point is"));
  EXPECT_THAT(refusal(scale(1), bytes({0}, {})), Says("a zero point is"));
}

TEST(Quantized, GemmWithoutAnOutputScaleGivesFloats) {
  const Tensor bias = Tensor::of<std::int32_t>({1}, {-3});
  const Tensors inputs{bytes({1, 2}, {2, 3}), scale(0.5F), zero(0), bytes({1, 2}, {4, 5}),
                       scale(0.5F),           zero(0),     bias};
  const Tensors found =
      run_node("y = com.microsoft.QGemm <transB = 1> (a, s, z, b, t, w, c)", inputs);
  EXPECT_EQ(values_of<float>(found[0]), (std::vector<float>{5}));  // (8 + 15 - 3) / 4
}

TEST(Quantized, SumsAndProductsAreRoundedWithTheZeroPointAdded) {
  // 0.5 + 1 is a tie that goes to 2; 0.5 alone would go to 0.
  const Tensors inputs{bytes({1}, {1}), scale(0.5F), zero(0),  bytes({1}, {0}),
                       scale(1),        zero(0),     scale(1), zero(1)};
  EXPECT_EQ(result("y = com.microsoft.QLinearAdd (a, s, z, b, t, w, u, o)", inputs), Bytes{2});
  Tensors factors = inputs;
  factors[3] = bytes({1}, {1});
  EXPECT_EQ(result("y = com.microsoft.QLinearMul (a, s, z, b, t, w, u, o)", factors), Bytes{2});
}

TEST(Quantized, GlobalMeansAreRoundedBeforeTheZeroPointAndOtherMeansAfter) {
  const Tensors inputs{bytes({1, 1, 1, 2}, {0, 1}), scale(1), zero(0), scale(1), zero(1)};
  EXPECT_EQ(result("y = com.microsoft.QLinearGlobalAveragePool (x, s, z, t, w)", inputs), Bytes{1});
  const std::string window =
      "y = com.microsoft.QLinearAveragePool <kernel_shape = [1, 2]> (x, s, z, t, w)";
  EXPECT_EQ(result(window, inputs), Bytes{1}) << "the window is the map";
  EXPECT_EQ(result(window, {bytes({1, 1, 1, 3}, {0, 1, 2}), scale(1), zero(0), scale(1), zero(1)}),
            (Bytes{2, 2}));
}

TEST(Quantized, ConcatBringsAllPartsToOneScale) {
  EXPECT_EQ(result("y = com.microsoft.QLinearConcat <axis = 0> (s, z, a, t, w, b, s, z)",
                   {scale(0.5F), zero(0), bytes({1}, {3}), scale(1), zero(1), bytes({2}, {7, 8}),
                    scale(0.5F), zero(0)}),
            (Bytes{4, 7, 8}));
}

TEST(Quantized, WhereBringsBothChoicesToOneScale) {
  Tensor condition(onnx::TensorProto::BOOL, {2});
  condition.mutable_values<bool>()[0] = true;
  condition.mutable_values<bool>()[1] = false;
  EXPECT_EQ(result("y = com.microsoft.QLinearWhere (c, a, s, z, b, t, w, s, z)",
                   {condition, bytes({2}, {3, 4}), scale(0.5F), zero(0), bytes({1}, {7}), scale(1),
                    zero(1), scale(0.5F), zero(0)}),
            (Bytes{3, 12}));
}

TEST(Quantized, SoftmaxSharesEqually) {
  EXPECT_EQ(result("y = com.microsoft.QLinearSoftmax <axis = 1, opset = 13> (x, s, z, t, w)",
                   {bytes({1, 2}, {9, 9}), scale(0.1F), zero(0), scale(1.0F / 256), zero(0)}),
            (Bytes{128, 128}));
}

TEST(Quantized, SigmoidIsRoundedAsTheQuotientOfPolynomialsIs) {
  // The exact function rounds each of these to the other neighbour; ONNX Runtime 1.31 gives these.
  const auto sigmoid = [](float x_scale, std::uint8_t x, float y_scale) {
    return result("y = com.microsoft.QLinearSigmoid (x, s, z, t, w)",
                  {bytes({1}, {x}), scale(x_scale), zero(128), scale(y_scale), zero(0)});
  };
  EXPECT_EQ(sigmoid(0.05F, 170, 0.008864708F), Bytes{101});
  EXPECT_EQ(sigmoid(0.05F, 100, 0.0039171507F), Bytes{50});
  EXPECT_EQ(sigmoid(0.05F, 110, 0.0028761243F), Bytes{101});
  EXPECT_EQ(sigmoid(0.1F, 150, 0.017826723F), Bytes{51});
}

TEST(Quantized, ActivationsMustHaveOneScale) {
  const Tensors inputs = {bytes({2}, {1, 2}), floats({2}, {1, 2}), zero(0), scale(1), zero(0)};
  EXPECT_THAT([&] { run_node("y = com.microsoft.QLinearSigmoid (x, s, z, t, w)", inputs); },
              Fails("only weights may"));
}

}  // namespace
}  // namespace gemm64

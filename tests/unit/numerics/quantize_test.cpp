// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/quantize.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(QuantizePerTensor, ScaleIsOfLargestMagnitude) {
  MatrixF matrix(2, 3);
  matrix << 1.0f, -2.0f, 0.0f, 254.0f, -127.0f, 4.0f;
  const QuantizedMatrix result = quantize_per_tensor(matrix);
  ASSERT_EQ(result.scales.size(), 1);
  EXPECT_EQ(result.scales(0), 2.0f);
  MatrixI8 expected(2, 3);
  // 1/2 = 0.5 and -127/2 = -63.5 are ties: to even.
  expected << 0, -1, 0, 127, -64, 2;
  EXPECT_EQ(result.values, expected);
}

TEST(QuantizePerTensor, RoundsTiesToEven) {
  MatrixF matrix(1, 7);
  matrix << 127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f;
  const QuantizedMatrix result = quantize_per_tensor(matrix);
  MatrixI8 expected(1, 7);
  expected << 127, 0, 2, 2, 0, -2, -2;
  EXPECT_EQ(result.scales(0), 1.0f);
  EXPECT_EQ(result.values, expected);
}

TEST(QuantizePerTensor, UsesSymmetricRange) {
  MatrixF matrix(1, 2);
  matrix << -1.0f, 0.25f;
  const QuantizedMatrix result = quantize_per_tensor(matrix);
  EXPECT_EQ(result.values(0, 0), -127);
  EXPECT_EQ(result.values(0, 1), 32);  // 31.75
}

TEST(QuantizePerTensor, ScaleOfZeroIsOne) {
  const QuantizedMatrix result = quantize_per_tensor(MatrixF::Zero(3, 2));
  EXPECT_EQ(result.scales(0), 1.0f);
  EXPECT_EQ(result.values, MatrixI8::Zero(3, 2));
}

TEST(QuantizePerRow, TakesOneScaleFromEachRow) {
  MatrixF matrix(3, 2);
  matrix << 127.0f, -1.0f, 0.0f, 0.0f, 0.5f, -63.5f;
  const QuantizedMatrix result = quantize_per_row(matrix);
  ASSERT_EQ(result.scales.size(), 3);
  EXPECT_EQ(result.scales(0), 1.0f);
  EXPECT_EQ(result.scales(1), 1.0f);
  EXPECT_EQ(result.scales(2), 0.5f);
  MatrixI8 expected(3, 2);
  expected << 127, -1, 0, 0, 1, -127;
  EXPECT_EQ(result.values, expected);
}

TEST(QuantizePerRow, IsWithinHalfAStep) {
  // From the smallest subnormal to the largest float, where scales are hardest to get right.
  std::mt19937 generator(7);
  for (int exponent = -149; exponent <= 127; ++exponent) {
    MatrixF matrix(1, 65);
    for (Eigen::Index i = 0; i < matrix.size(); ++i) {
      const int code = static_cast<int>(generator() % 2000001u) - 1000000;
      matrix(0, i) = std::ldexp(static_cast<float>(code) / 1000000.0f, exponent);
    }
    const QuantizedMatrix result = quantize_per_row(matrix);
    const double scale = static_cast<double>(result.scales(0));
    ASSERT_GT(scale, 0.0) << "exponent " << exponent;
    for (Eigen::Index i = 0; i < matrix.size(); ++i) {
      const double error =
          std::abs(static_cast<double>(matrix(0, i)) - scale * result.values(0, i));
      ASSERT_LE(error, 0.50001 * scale) << "exponent " << exponent << " column " << i;
      ASSERT_GE(result.values(0, i), -127);
    }
  }
}

TEST(Quantize, RejectsValuesThatAreNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    MatrixF matrix = MatrixF::Ones(4, 40);
    matrix(2, 33) = bad;
    EXPECT_THROW(quantize_per_tensor(matrix), UsageError);
    EXPECT_THAT([&] { quantize_per_row(matrix); }, Fails("row 2, column 33", "finite"));
  }
}

TEST(DequantizeLinear, ScalesColumnsAndAddsBias) {
  MatrixI32 sums(2, 3);
  sums << 4, -8, 0, 1000000, 1, -1;
  Eigen::VectorXf scales(3);
  scales << 0.5f, 2.0f, 1.0f;
  Eigen::VectorXf bias(3);
  bias << 1.0f, 0.0f, -3.0f;
  MatrixF expected(2, 3);
  expected << 1.5f, -4.0f, -3.0f, 125001.0f, 0.5f, -3.25f;
  EXPECT_EQ(dequantize_linear(sums, 0.25f, scales, bias), expected);
}

TEST(DequantizeLinear, RejectsOtherLengths) {
  const MatrixI32 sums = MatrixI32::Zero(2, 3);
  const Eigen::VectorXf three = Eigen::VectorXf::Ones(3);
  const Eigen::VectorXf two = Eigen::VectorXf::Ones(2);
  EXPECT_THROW(dequantize_linear(sums, 1.0f, two, three), std::invalid_argument);
  EXPECT_THROW(dequantize_linear(sums, 1.0f, three, two), std::invalid_argument);
}

TEST(Quantize, LinearLayerIsNearFloat) {
  std::mt19937 generator(3);
  const auto uniform = [&] { return static_cast<float>(generator() % 2001u) / 1000.0f - 1.0f; };
  const MatrixF a = MatrixF::NullaryExpr(5, 300, uniform);
  const MatrixF w = MatrixF::NullaryExpr(7, 300, uniform) * 0.01f;
  const Eigen::VectorXf bias = Eigen::VectorXf::NullaryExpr(7, uniform);
  const QuantizedMatrix qa = quantize_per_tensor(a);
  const QuantizedMatrix qw = quantize_per_row(w);
  const MatrixI32 sums =
      qa.values.cast<std::int32_t>() * qw.values.cast<std::int32_t>().transpose();
  const MatrixF y = dequantize_linear(sums, qa.scales(0), qw.scales, bias);
  const MatrixF expected = (a * w.transpose()).rowwise() + bias.transpose();
  // Worst case of both roundings: K * (max|a| * sw / 2 + max|w| * sa / 2), about 0.024.
  EXPECT_LT((y - expected).cwiseAbs().maxCoeff(), 0.024f);
  EXPECT_GT((y - expected).cwiseAbs().maxCoeff(), 0.0f);
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/reference.hpp"

#include "tests/random_matrix.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

// The definition, in 64-bit integers, cut to 32 bits at the end.
MatrixI32 by_definition(const MatrixI8& a, const MatrixI8& w) {
  MatrixI32 result(a.rows(), w.rows());
  for (Eigen::Index m = 0; m < a.rows(); ++m) {
    for (Eigen::Index n = 0; n < w.rows(); ++n) {
      // Rows are contiguous; pointers, since tests are not optimized.
      const std::int8_t* const x = &a(m, 0);
      const std::int8_t* const y = &w(n, 0);
      std::int64_t sum = 0;
      for (Eigen::Index k = 0; k < a.cols(); ++k) sum += std::int64_t{x[k]} * y[k];
      result(m, n) = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
    }
  }
  return result;
}

TEST(ReferenceGemm, MultipliesTransposedWeights) {
  MatrixI8 a(2, 3);
  a << 1, 2, 3, -4, 5, -6;
  MatrixI8 w(2, 3);
  w << 7, 8, 9, -1, 0, 127;
  MatrixI32 expected(2, 2);
  expected << 50, 380, -42, -758;
  EXPECT_EQ(reference_gemm(a, w), expected);
}

TEST(ReferenceGemm, EqualsDefinition) {
  const std::uint32_t seed = 20;
  std::mt19937 generator(seed);
  for (const Eigen::Index m : {1, 3, 65}) {
    for (const Eigen::Index k : {1, 63, 1023, 1024, 1025, 2100}) {
      for (const Eigen::Index n : {1, 64, 255, 257}) {
        const MatrixI8 a = random_matrix(generator, m, k);
        const MatrixI8 w = random_matrix(generator, n, k);
        ASSERT_EQ(reference_gemm(a, w), by_definition(a, w))
            << "M " << m << " K " << k << " N " << n << " seed " << seed;
      }
    }
  }
}

TEST(ReferenceGemm, IsExactForTheLargestSums) {
  // 128 * 128 * 1024 = 2^24 fills a chunk; one odd product in front makes rounding visible.
  const Eigen::Index k = 9216;
  MatrixI8 a = MatrixI8::Constant(2, k, -128);
  MatrixI8 w = MatrixI8::Constant(3, k, -128);
  w.row(1).setConstant(127);
  a(0, 0) = -127;
  w(0, 0) = -127;
  const MatrixI32 result = reference_gemm(a, w);
  EXPECT_EQ(result(0, 0), 16384 * 9215 + 127 * 127);
  EXPECT_EQ(result(1, 1), -128 * 127 * 9216);
  EXPECT_EQ(result(1, 2), 16384 * 9216);
  EXPECT_EQ(result, by_definition(a, w));
}

TEST(ReferenceGemm, WrapsModulo32Bits) {
  // 2^14 * 131,073 = 2^31 + 2^14.
  const MatrixI8 a = MatrixI8::Constant(1, 131073, -128);
  MatrixI8 w = MatrixI8::Constant(2, 131073, -128);
  w.row(1).setConstant(127);
  const MatrixI32 result = reference_gemm(a, w);
  EXPECT_EQ(result(0, 0), INT32_MIN + 16384);
  EXPECT_EQ(result(0, 1), -16256 * 131073);
}

TEST(ReferenceGemm, RejectsOperandsThatDifferInK) {
  EXPECT_THROW(reference_gemm(MatrixI8::Zero(2, 3), MatrixI8::Zero(2, 4)), std::invalid_argument);
}

TEST(ReferenceRequantize, NeedsBiasAndScale) {
  const MatrixI32 sums = MatrixI32::Zero(2, 3);
  EXPECT_NO_THROW(reference_requantize(sums, {0, 0, 0}, {1, 1, 1}, 0, -128, 127));
  EXPECT_THROW(reference_requantize(sums, {0, 0}, {1, 1, 1}, 0, -128, 127), std::invalid_argument);
  EXPECT_THROW(reference_requantize(sums, {0, 0, 0}, {1, 1}, 0, -128, 127), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64

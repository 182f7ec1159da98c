// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/quality.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(SignalToNoise, IsTheRatioOfPowersInDecibels) {
  MatrixF reference(1, 2);
  reference << 30.0f, 40.0f;  // power 2500
  MatrixF approximation(1, 2);
  approximation << 33.0f, 36.0f;  // noise 25
  EXPECT_NEAR(signal_to_noise_db(reference, approximation), 20.0, 1e-12);
}

TEST(SignalToNoise, IsInfiniteAtTheExtremes) {
  const MatrixF ones = MatrixF::Ones(2, 2);
  const MatrixF zeros = MatrixF::Zero(2, 2);
  EXPECT_EQ(signal_to_noise_db(ones, ones), std::numeric_limits<double>::infinity());
  EXPECT_EQ(signal_to_noise_db(zeros, zeros), std::numeric_limits<double>::infinity());
  EXPECT_EQ(signal_to_noise_db(zeros, ones), -std::numeric_limits<double>::infinity());
}

TEST(Top1Agreement, CountsRowsWithSameMaximum) {
  MatrixF a(4, 3);
  a << 1, 2, 3, 5, 4, 3, -1, -2, -3, 7, 7, 0;
  MatrixF b(4, 3);
  b << 0, 0, 9, 3, 4, 5, -5, -9, -9, 8, 9, 0;
  // Agree: rows 0 and 2. Row 3 of a ties: the first column counts.
  EXPECT_EQ(top1_agreement(a, b), 0.5);
  EXPECT_EQ(top1_agreement(a, a), 1.0);
}

TEST(MaxAbsError, FindsTheLargestDifference) {
  MatrixF a(2, 2);
  a << 1.0f, -2.0f, 3.0f, 4.0f;
  MatrixF b(2, 2);
  b << 1.5f, -2.0f, 3.0f, 1.0f;
  EXPECT_EQ(max_abs_error(a, b), 3.0);
  EXPECT_EQ(max_abs_error(b, a), 3.0);
  b(0, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(max_abs_error(a, b)));
}

TEST(Compare, CountsMismatchesAndShowsTheFirst) {
  MatrixI32 expected(3, 3);
  expected << 1, 2, 3, 4, 5, 6, 7, 8, 9;
  MatrixI32 found = expected;
  found(1, 2) = 7;
  found(2, 0) = -100;
  const Mismatches result = compare(expected, found);
  EXPECT_EQ(result.count, 2u);
  EXPECT_EQ(result.first_row, 1);
  EXPECT_EQ(result.first_column, 2);
  EXPECT_EQ(result.expected, 6);
  EXPECT_EQ(result.found, 7);
  EXPECT_EQ(result.max_abs_error, 107);
}

TEST(Compare, MeasuresLargestErrorSafely) {
  const MatrixI32 low = MatrixI32::Constant(1, 1, INT32_MIN);
  const MatrixI32 high = MatrixI32::Constant(1, 1, INT32_MAX);
  EXPECT_EQ(compare(low, high).max_abs_error, 4294967295LL);
  EXPECT_EQ(compare(high, low).max_abs_error, 4294967295LL);
}

TEST(Compare, FindsNothingInEqualMatrices) {
  const Mismatches result = compare(MatrixI32::Ones(4, 5), MatrixI32::Ones(4, 5));
  EXPECT_EQ(result.count, 0u);
  EXPECT_EQ(result.max_abs_error, 0);
}

TEST(Quality, RejectsDifferentShapes) {
  const MatrixF wide = MatrixF::Zero(1, 2);
  const MatrixF tall = MatrixF::Zero(2, 1);
  EXPECT_THROW(signal_to_noise_db(wide, tall), std::invalid_argument);
  EXPECT_THROW(top1_agreement(wide, tall), std::invalid_argument);
  EXPECT_THROW(top1_agreement(MatrixF(), MatrixF()), std::invalid_argument);
  EXPECT_THROW(max_abs_error(wide, tall), std::invalid_argument);
  EXPECT_THROW(compare(MatrixI32::Zero(1, 2), MatrixI32::Zero(2, 1)), std::invalid_argument);
}

TEST(Quality, ReportsShapesThatDiffer) {
  const auto message = [](const MatrixF& a, const MatrixF& b) -> std::string {
    return message_of<std::invalid_argument>([&] { signal_to_noise_db(a, b); });
  };
  EXPECT_EQ(message(MatrixF::Zero(1, 2), MatrixF::Zero(1, 3)),
            "signal_to_noise_db: shapes differ: 1x2 and 1x3");
  EXPECT_EQ(message(MatrixF::Zero(3, 2), MatrixF::Zero(1, 2)),
            "signal_to_noise_db: shapes differ: 3x2 and 1x2");
}

TEST(Quality, NaNAgreesWithNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  MatrixF a(2, 2);
  a << nan, 1, 2, 1;
  EXPECT_EQ(top1_agreement(a, a), 0.5);
  a << nan, nan, 2, 1;
  EXPECT_EQ(top1_agreement(a, a), 0.5);
  EXPECT_EQ(signal_to_noise_db(a, a), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(max_abs_error(a, a)));
  const MatrixF ones = MatrixF::Ones(2, 2);
  EXPECT_EQ(signal_to_noise_db(a, ones), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(signal_to_noise_db(ones, a), -std::numeric_limits<double>::infinity());
}

TEST(Quality, EqualInfinitiesAreNoError) {
  const float infinity = std::numeric_limits<float>::infinity();
  MatrixF a(1, 2), b(1, 2);
  a << infinity, 3;
  b << infinity, 4;
  EXPECT_EQ(max_abs_error(a, b), 1.0);
  EXPECT_NEAR(signal_to_noise_db(a, b), 10 * std::log10(9.0), 1e-9);
  b(0, 0) = -infinity;
  EXPECT_EQ(max_abs_error(a, b), std::numeric_limits<double>::infinity());
  EXPECT_EQ(signal_to_noise_db(a, b), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace gemm64

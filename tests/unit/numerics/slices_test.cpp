// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/slices.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

MatrixF random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint32_t seed, float scale) {
  std::mt19937 random(seed);
  MatrixF matrix(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) {
    matrix.data()[i] = scale * (static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F);
  }
  return matrix;
}

/// The product of the slices by plain loops over int64.
MatrixI32 plain_product(const MatrixI8& a, const MatrixI8& w) {
  MatrixI32 sums(a.rows(), w.rows());
  for (Eigen::Index m = 0; m < a.rows(); ++m) {
    for (Eigen::Index n = 0; n < w.rows(); ++n) {
      std::int64_t sum = 0;
      for (Eigen::Index k = 0; k < a.cols(); ++k) sum += a(m, k) * w(n, k);
      sums(m, n) = static_cast<std::int32_t>(sum);
    }
  }
  return sums;
}

MatrixF sliced_product(const SlicedMatrix& a, const SlicedMatrix& w) {
  Matrix<double> sums = Matrix<double>::Zero(a.slices[0].rows(), w.slices[0].rows());
  for (int order = 0; order < kSlices; ++order) {
    add_order(sums, plain_product(stack_slices(a, order, false), stack_slices(w, order, true)),
              order);
  }
  return scale_sums(sums, a, w);
}

TEST(Slices, GiveTheRowBackToTheLastBit) {
  const MatrixF matrix = random_matrix(5, 40, 1, 3.0F);
  const SlicedMatrix sliced = slice_rows(matrix);
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      double value = 0;
      for (int i = 0; i < kSlices; ++i) {
        const int slice = sliced.slices[static_cast<std::size_t>(i)](r, c);
        EXPECT_LE(std::abs(slice), 64);
        value += std::ldexp(slice, sliced.exponents(r) - 6 - 7 * i);
      }
      // Half a unit of the last slice.
      EXPECT_LE(std::abs(value - matrix(r, c)), std::ldexp(0.5, sliced.exponents(r) - 6 - 21));
    }
  }
}

TEST(Slices, HoldPowersOfTwoExactly) {
  MatrixF matrix(1, 3);
  matrix << 1.0F, -0.5F, 0.0F;
  const SlicedMatrix sliced = slice_rows(matrix);
  EXPECT_EQ(sliced.exponents(0), 1);
  EXPECT_EQ(sliced.slices[0](0, 0), 32);
  EXPECT_EQ(sliced.slices[0](0, 1), -16);
  EXPECT_EQ(sliced.slices[1], MatrixI8::Zero(1, 3));
}

TEST(Slices, MultiplyMoreExactlyThanFloat32) {
  // K = 9216, activations as after a ReLU, weights uniform in +-1/96: REFERENCE_NUMBERS, section 5.
  const MatrixF a = random_matrix(4, 9216, 2, 1.0F).cwiseMax(0.0F);
  const MatrixF w = random_matrix(6, 9216, 3, 1.0F / 96);
  const SlicedMatrix sliced_a = slice_rows(a);
  const SlicedMatrix sliced_w = slice_rows(w);
  const Matrix<double> exact = a.cast<double>() * w.cast<double>().transpose();
  const MatrixF in_float = a * w.transpose();
  const double error =
      (sliced_product(sliced_a, sliced_w).cast<double>() - exact).cwiseAbs().maxCoeff();
  const double float_error = (in_float.cast<double>() - exact).cwiseAbs().maxCoeff();
  EXPECT_LT(error, 2e-7);
  EXPECT_LT(error, float_error);
  EXPECT_LE(error, slices_error_bound(sliced_a, sliced_w, 9216, exact.cwiseAbs().maxCoeff()));
}

TEST(Slices, BoundNoticesALostSlice) {
  for (const float size : {1.0F, 1e-9F, 1e9F}) {  // of the weights
    const MatrixF a = random_matrix(3, 64, 4, 1.0F);
    const MatrixF w = random_matrix(3, 64, 5, size);
    const SlicedMatrix sliced_a = slice_rows(a), sliced_w = slice_rows(w);
    SlicedMatrix damaged = sliced_a;
    damaged.slices[2].setZero();
    const Matrix<double> exact = a.cast<double>() * w.cast<double>().transpose();
    const double bound = slices_error_bound(sliced_a, sliced_w, 64, exact.cwiseAbs().maxCoeff());
    EXPECT_LE(slices_error(exact, sliced_product(sliced_a, sliced_w)), bound) << size;
    EXPECT_GT(slices_error(exact, sliced_product(damaged, sliced_w)), bound) << size;
  }
}

TEST(Slices, BoundIsAsStated) {
  MatrixF a(2, 1), w(1, 1);
  a << 0.25F, 3.0F;  // below 2^2
  w << 1.0F;         // below 2^1
  EXPECT_EQ(slices_error_bound(slice_rows(a), slice_rows(w), 7, 8.0),
            5.1 * 7 * std::ldexp(1.0, 2 + 1 - 28) + std::ldexp(8.0, -24));
}

TEST(Slices, ScaleEachRowByItself) {
  MatrixF a(3, 2);
  a << 1e30F, -2e30F, 0.0F, 0.0F, 3e-30F, 1e-30F;
  MatrixF w(1, 2);
  w << 1.0F, 0.25F;
  const MatrixF found = sliced_product(slice_rows(a), slice_rows(w));
  EXPECT_NEAR(found(0, 0), 5e29F, 1e23F);
  EXPECT_EQ(found(1, 0), 0.0F);
  EXPECT_NEAR(found(2, 0), 3.25e-30F, 1e-36F);
}

TEST(Slices, RefuseValuesThatAreNotFinite) {
  MatrixF matrix = MatrixF::Zero(2, 2);
  matrix(1, 0) = std::numeric_limits<float>::infinity();
  const auto message = [&] { return message_of([&] { slice_rows(matrix); }); };
  EXPECT_THAT(message(), Says("row 1, column 0 is inf"));
  matrix(1, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message(), Says("row 1, column 0 is NaN"));
}

TEST(Slices, HoldTheirBoundForSmallSums) {
  for (const float size : {1e-20F, 1e-22F, 3e-23F, 1e-30F, 1e-42F}) {
    const MatrixF a = random_matrix(5, 30, 6, size);
    const MatrixF w = random_matrix(5, 30, 7, size);
    const SlicedMatrix sliced_a = slice_rows(a);
    const SlicedMatrix sliced_w = slice_rows(w);
    const Matrix<double> exact = a.cast<double>() * w.cast<double>().transpose();
    EXPECT_LE(slices_error(exact, sliced_product(sliced_a, sliced_w)),
              slices_error_bound(sliced_a, sliced_w, 30, exact.cwiseAbs().maxCoeff()))
        << size;
  }
}

TEST(Slices, OverflowToTheInfinityOfTheExactResult) {
  MatrixF a(1, 1), w(2, 1);
  a << 3e30F;
  w << 3e30F, -3e30F;
  const MatrixF found = sliced_product(slice_rows(a), slice_rows(w));
  EXPECT_EQ(found(0, 0), std::numeric_limits<float>::infinity());
  const Matrix<double> exact = a.cast<double>() * w.cast<double>().transpose();
  EXPECT_EQ(slices_error(exact, found), 0.0);
  EXPECT_EQ(slices_error(-exact, found), std::numeric_limits<double>::infinity());
  const MatrixF nan = MatrixF::Constant(1, 2, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(slices_error(exact, nan), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace gemm64

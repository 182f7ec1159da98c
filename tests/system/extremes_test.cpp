// SPDX-License-Identifier: Apache-2.0
// Operands at the ends of int8, and sums as large as they can be.

#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

MatrixI8 constant(std::uint64_t rows, std::uint64_t columns, int value) {
  return MatrixI8::Constant(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
                            static_cast<std::int8_t>(value));
}

MatrixI8 alternating(std::uint64_t rows, std::uint64_t columns, int even, int odd) {
  MatrixI8 matrix = constant(rows, columns, even);
  for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
    for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
      if ((row + column) % 2 != 0) matrix(row, column) = static_cast<std::int8_t>(odd);
    }
  }
  return matrix;
}

class Extremes : public testing::TestWithParam<int> {
 protected:
  Rig rig{GetParam()};
};

TEST_P(Extremes, TheLargestProductsAreExact) {
  const GemmShape shape{5, 4001, 11};
  const MatrixI8 a = constant(shape.m, shape.k, -128);
  const MatrixI8 w = constant(shape.n, shape.k, -128);
  const GemmResult result = run(rig, {shape}, {a, w});
  EXPECT_EQ(result.sums, MatrixI32::Constant(5, 11, 4001 * 16384));
  expect_exact(rig, {shape, Accumulate::kHost}, {a, w});
}

TEST_P(Extremes, TheSmallestProductsAreExact) {
  const GemmShape shape{5, 4001, 11};
  const GemmResult result =
      run(rig, {shape}, {constant(shape.m, shape.k, -128), constant(shape.n, shape.k, 127)});
  EXPECT_EQ(result.sums, MatrixI32::Constant(5, 11, -4001 * 16256));
}

TEST_P(Extremes, AlternatingSignsAreExact) {
  const GemmShape shape{9, 1003, 10};
  for (const int odd : {127, -127, 0}) {
    expect_exact(rig, {shape},
                 {alternating(shape.m, shape.k, -128, odd), constant(shape.n, shape.k, -128)});
    expect_exact(rig, {shape},
                 {constant(shape.m, shape.k, 127), alternating(shape.n, shape.k, -128, odd)});
    expect_exact(
        rig, {shape},
        {alternating(shape.m, shape.k, -128, odd), alternating(shape.n, shape.k, odd, -128)});
  }
}

// A value that goes astray, in one row, column or place along K, changes one sum only.
TEST_P(Extremes, SingleOnesArriveWhereTheyBelong) {
  const std::uint64_t size = 2 * static_cast<std::uint64_t>(GetParam()) + 1;
  for (std::uint64_t at = 0; at < size; ++at) {
    const auto place = static_cast<Eigen::Index>(at);
    MatrixI8 a = constant(size, size, 0);
    MatrixI8 w = constant(size, size, 0);
    a(place, place) = -128;
    w(static_cast<Eigen::Index>(size - 1 - at), place) = 127;
    expect_exact(rig, {{size, size, size}}, {a, w});
    if (HasFailure()) return;
  }
}

TEST_P(Extremes, ZerosGiveZerosAfterLargeSums) {
  const GemmShape shape{7, 300, 9};
  const MatrixI8 large = constant(shape.m, shape.k, -128);
  run(rig, {shape}, {large, constant(shape.n, shape.k, -128)});
  const GemmResult result = run(rig, {shape}, {large, constant(shape.n, shape.k, 0)});
  EXPECT_EQ(result.sums, MatrixI32::Zero(7, 9));
}

INSTANTIATE_TEST_SUITE_P(N, Extremes, testing::Values(2, 4, 8, 16, 32),
                         testing::PrintToStringParamName());

// 2^31 / 2^14 = 131,072: with one product more the sum of int8 products leaves int32 and wraps.
TEST(Wrap, SumsBeyondInt32WrapEverywhere) {
  Rig rig(8);
  const GemmShape shape{1, 131073, 1};
  const Operands operands{constant(1, shape.k, -128), constant(1, shape.k, -128)};
  for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
    const GemmResult result = run(rig, {shape, accumulate}, operands);
    EXPECT_EQ(result.sums(0, 0), INT32_MIN + 16384);
  }
}

}  // namespace
}  // namespace gemm64::system_test

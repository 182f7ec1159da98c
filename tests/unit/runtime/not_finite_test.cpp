// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/not_finite.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(NotFinite, CountsValuesAndNamesTheFirst) {
  const Tensor tensor = Tensor::of<float>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, kNan, 10, kNan});
  EXPECT_EQ(nan_note("x", tensor), "x: 2 of 12 values are NaN, the first at [1, 1, 1]");
  EXPECT_EQ(infinity_note("x", tensor), "");
  const Tensor first = Tensor::of<float>({4}, {-kInfinity, 0, 0, 0});
  EXPECT_EQ(infinity_note("y", first), "y: 1 of 4 values is infinite, the first at [0]");
  EXPECT_EQ(nan_note("y", first), "");
}

TEST(NotFinite, KnowsWiderAndNarrowerFloats) {
  const Tensor wide = Tensor::of<double>({1, 2}, {1, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(nan_note("d", wide), "d: 1 of 2 values is NaN, the first at [0, 1]");
  const Tensor narrow = Tensor::of<Eigen::half>({2}, {Eigen::half(kInfinity), Eigen::half(1.F)});
  EXPECT_EQ(infinity_note("h", narrow), "h: 1 of 2 values is infinite, the first at [0]");
  EXPECT_EQ(nan_note("i", Tensor::of<std::int32_t>({1}, {-1})), "");
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Averages by exact sums: what the requantizer makes of any values is what their kernel gives,
// which adds them in float32.
#include "host/compile/average_pool.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

/// What ONNX Runtime gives of values as int8; those beyond the border are zero.
int mean_of(const std::vector<int>& values, const Quantization& from, const Quantization& to,
            int low) {
  float sum = 0;
  for (const int value : values) sum += from.scale * static_cast<float>(value - from.zero);
  const float mean = sum / static_cast<float>(values.size());
  const float moved = std::nearbyint(mean / to.scale + static_cast<float>(to.zero));
  return static_cast<int>(
      std::min(std::max(moved, static_cast<float>(low)), static_cast<float>(low + 255)));
}

/// What the requantizer makes of their sum.
int requantized(const std::vector<int>& values, const AverageFactors& factors, int low) {
  int sum = factors.bias;
  for (const int value : values) sum += value;
  const float rounded = std::nearbyint(static_cast<float>(sum) * factors.scale);
  const float least = static_cast<float>(low - factors.zero);
  return static_cast<int>(std::min(std::max(rounded, least), least + 255)) + factors.zero;
}

void expect_means(std::mt19937& random, const Quantization& from, const Quantization& to,
                  std::uint32_t count, DataType type, const AverageFactors& factors) {
  const int low = type == TensorProto::INT8 ? -128 : 0;
  std::vector<int> values(count);
  for (unsigned tries = 0; tries < 300; ++tries) {
    const int spread = static_cast<int>(draw(random, 1, 255));
    const int first = static_cast<int>(draw(random, 0, static_cast<unsigned>(255 - spread))) - 128;
    for (int& value : values) {
      value = first + static_cast<int>(draw(random, 0, static_cast<unsigned>(spread)));
      if (draw(random, 0, 9) == 0) value = from.zero;
    }
    ASSERT_EQ(requantized(values, factors, low), mean_of(values, from, to, low));
  }
}

TEST(AverageFactors, GiveTheKernelsMeansOfAnyValues) {
  unsigned found = 0, cases = 0;
  for_seeds(70, 200, [&](std::mt19937& random) {
    const DataType type = random() % 2 != 0 ? TensorProto::INT8 : TensorProto::UINT8;
    const int low = type == TensorProto::INT8 ? -128 : 0;
    const float steps[] = {0.5F, 0.25F, 0.1F, 0.03F, 0.017F};
    const auto scale = [&] {
      return random() % 3 == 0 ? steps[random() % 5]
                               : 0.001F * static_cast<float>(draw(random, 3, 90));
    };
    const Quantization from{scale(), static_cast<int>(draw(random, 0, 255)) - 128};
    const Quantization to{scale(), static_cast<int>(draw(random, 0, 255)) + low};
    const std::uint32_t count = draw(random, 1, 3) * draw(random, 1, 4);
    SCOPED_TRACE(testing::Message() << count << " values of " << from.scale << ", " << from.zero
                                    << " to " << to.scale << ", " << to.zero);
    ++cases;
    const auto factors = window_factors(from, to, count, type);
    if (!factors) return;
    ++found;
    expect_means(random, from, to, count, type, *factors);
  });
  EXPECT_GT(found, cases / 3);
}

TEST(AverageFactors, RoundToEvenAfterZeroPoint) {
  std::mt19937 random(5);
  unsigned steps = 0;
  for (int zero = -4; zero <= 4; ++zero) {
    const Quantization from{0.5F, 3}, to{0.5F, zero};  // each second sum is between two values
    const auto factors = window_factors(from, to, 2, TensorProto::INT8);
    ASSERT_TRUE(factors) << zero;
    steps += factors->zero != zero ? 1 : 0;
    expect_means(random, from, to, 2, TensorProto::INT8, *factors);
  }
  EXPECT_EQ(steps, 4U) << "of the odd ones";
}

TEST(AverageFactors, AreNoneWhereWhatIsAddedDecides) {
  // Half of a step in float32 is a little more or less, by the order of additions.
  const Quantization both{0.1F, 0};
  EXPECT_FALSE(window_factors(both, both, 4, TensorProto::INT8));
  EXPECT_TRUE(window_factors(both, both, 9, TensorProto::INT8)) << "a ninth never is a half";
  EXPECT_TRUE(window_factors({0.125F, 0}, {0.125F, 0}, 4, TensorProto::INT8)) << "exact sums";
  EXPECT_FALSE(window_factors({-0.1F, 0}, both, 9, TensorProto::INT8));
  EXPECT_FALSE(whole_map_factors({-0.1F, 0}, both, 9));
}

TEST(AverageFactors, OfWholeMapsMatchGlobalPools) {
  const auto factors = whole_map_factors({0.3F, -5}, {0.2F, 7}, 49);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->bias, 49 * 5);
  EXPECT_EQ(factors->scale, 0.3F / (0.2F * 49.0F));
  EXPECT_EQ(factors->zero, 7);
}

}  // namespace
}  // namespace gemm64

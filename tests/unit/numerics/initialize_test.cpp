// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/initialize.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

std::vector<float> draw(std::uint32_t seed, const std::string& name, float bound,
                        std::size_t count) {
  MersenneTwister generator = layer_generator(seed, name);
  std::vector<float> values(count);
  fill_uniform(generator, bound, values.data(), count);
  return values;
}

TEST(InitialBound, IsOneOverTheRootOfTheFanIn) {
  EXPECT_EQ(initial_bound(9216), 1.0f / 96.0f);
  EXPECT_EQ(initial_bound(4096), 1.0f / 64.0f);
  EXPECT_FLOAT_EQ(initial_bound(3 * 11 * 11), 0.0524864f);
}

TEST(FillUniform, MapsTheUpperBitsOfMt19937) {
  // The first two numbers of std::mt19937 with its default seed: 3499211612 and 581869302.
  MersenneTwister generator;
  float values[2];
  fill_uniform(generator, 1.0f, values, 2);
  EXPECT_EQ(values[0], (13668795.0f - 8388608.0f) / 8388608.0f);
  EXPECT_EQ(values[1], (2272926.0f - 8388608.0f) / 8388608.0f);
}

TEST(FillInt8, TakesTheUpperByteOfMt19937) {
  std::mt19937 generator;  // 3499211612 and 581869302
  std::int8_t values[2];
  fill_int8(generator, values, 2);
  EXPECT_EQ(values[0], 0xd0 - 256);
  EXPECT_EQ(values[1], 0x22);
}

TEST(FillUniform, HasMomentsOfItsDistribution) {
  const float bound = 0.25f;
  const std::vector<float> values = draw(1, "layer", bound, 1000000);
  double sum = 0.0;
  double squares = 0.0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double count = static_cast<double>(values.size());
  // Five standard errors of the mean, and of the mean square.
  EXPECT_NEAR(sum / count, 0.0, 5.0 * bound / std::sqrt(3.0 * count));
  const double variance = bound * bound / 3.0;
  EXPECT_NEAR(squares / count, variance, 5.0 * variance * std::sqrt(0.8 / count));
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -bound);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), bound);
  EXPECT_LT(*std::min_element(values.begin(), values.end()), -0.999f * bound);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.999f * bound);
}

TEST(LayerGenerator, DependsOnSeedAndNameOnly) {
  const std::vector<float> values = draw(5, "classifier.1", 1.0f, 64);
  EXPECT_EQ(values, draw(5, "classifier.1", 1.0f, 64));
  EXPECT_NE(values, draw(6, "classifier.1", 1.0f, 64));
  EXPECT_NE(values, draw(5, "classifier.4", 1.0f, 64));
}

}  // namespace
}  // namespace gemm64

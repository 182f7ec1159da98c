// SPDX-License-Identifier: Apache-2.0
#include "host/models/conv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include "tests/host/models/naive_stages.hpp"

namespace gemm64 {
namespace {

std::vector<float> random_values(std::mt19937& generator, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(generator() % 2001u) / 1000.0f - 1.0f;
  return values;
}

ImageBatch random_images(std::mt19937& generator, std::size_t count, std::size_t channels,
                         std::size_t height, std::size_t width) {
  return {count, channels, height, width,
          random_values(generator, count * channels * height * width)};
}

Convolution random_convolution(std::mt19937& generator, std::size_t in, std::size_t out,
                               std::size_t kernel, std::size_t stride, std::size_t padding,
                               bool relu) {
  return {"conv",
          in,
          out,
          kernel,
          stride,
          padding,
          relu,
          random_values(generator, out * in * kernel * kernel),
          random_values(generator, out)};
}

void expect_equal(const ImageBatch& found, const ImageBatch& expected, float tolerance) {
  ASSERT_EQ(found.count, expected.count);
  ASSERT_EQ(found.channels, expected.channels);
  ASSERT_EQ(found.height, expected.height);
  ASSERT_EQ(found.width, expected.width);
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    ASSERT_NEAR(found.values[i], expected.values[i], tolerance) << "value " << i;
  }
}

TEST(RunStages, ConvolvesByHand) {
  // 3x3 image, 2x2 kernel, padding 1, stride 2: each output sees one corner of the image.
  const ImageBatch image{1, 1, 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  Convolution stage{"conv", 1, 1, 2, 2, 1, false, {1, 10, 100, 1000}, {-0.5f}};
  const ImageBatch result = run_stages(image, {stage});
  expect_equal(result, {1, 1, 2, 2, {999.5f, 3199.5f, 7039.5f, 9864.5f}}, 0.0f);
}

TEST(RunStages, AppliesReluOnlyWhereAsked) {
  const ImageBatch image{1, 1, 1, 2, {1, -1}};
  Convolution stage{"conv", 1, 1, 1, 1, 0, true, {2}, {0}};
  expect_equal(run_stages(image, {stage}), {1, 1, 1, 2, {2, 0}}, 0.0f);
  stage.relu = false;
  expect_equal(run_stages(image, {stage}), {1, 1, 1, 2, {2, -2}}, 0.0f);
}

TEST(RunStages, EqualsNaiveLoopsForEveryKernelStrideAndPadding) {
  const std::uint32_t seed = 11;
  std::mt19937 generator(seed);
  for (const std::size_t kernel : {1u, 2u, 3u, 5u, 11u}) {
    for (const std::size_t stride : {1u, 2u, 4u}) {
      for (const std::size_t padding : {0u, 1u, 2u}) {
        for (const bool relu : {false, true}) {
          const ImageBatch images = random_images(generator, 2, 3, 13, 17);
          const Convolution stage =
              random_convolution(generator, 3, 5, kernel, stride, padding, relu);
          SCOPED_TRACE(testing::Message() << "kernel " << kernel << " stride " << stride
                                          << " padding " << padding << " seed " << seed);
          expect_equal(run_stages(images, {stage}), naive_convolution(images, stage), 1e-3f);
        }
      }
    }
  }
}

TEST(RunStages, EqualsNaiveLoopsForChannelsThatFillVectorsAndRaggedOnes) {
  std::mt19937 generator(12);
  for (const std::size_t in : {1u, 16u, 17u, 64u}) {
    for (const std::size_t out : {1u, 16u, 33u, 64u}) {
      const ImageBatch images = random_images(generator, 1, in, 7, 9);
      const Convolution stage = random_convolution(generator, in, out, 3, 1, 1, true);
      SCOPED_TRACE(testing::Message() << in << " to " << out << " channels");
      expect_equal(run_stages(images, {stage}), naive_convolution(images, stage), 1e-3f);
    }
  }
}

TEST(RunStages, PoolsByHand) {
  const ImageBatch image{1, 1, 4, 5, {-1, -2, -3, -4, 9,  //
                                      -5, -6, -7, -8, 9,  //
                                      -9, 10, 11, -3, 9,  //
                                      12, 13, 14, -2, 9}};
  // Windows of 2 with stride 2; the fifth column fits none.
  expect_equal(run_stages(image, {MaxPooling{2, 2}}), {1, 1, 2, 2, {-1, -3, 13, 14}}, 0.0f);
}

TEST(RunStages, PoolsOverlappingWindowsAsNaiveLoopsDo) {
  std::mt19937 generator(13);
  for (const std::size_t channels : {1u, 16u, 19u}) {
    const ImageBatch images = random_images(generator, 2, channels, 13, 16);
    for (const MaxPooling& stage : {MaxPooling{3, 2}, MaxPooling{3, 1}, MaxPooling{2, 3}}) {
      expect_equal(run_stages(images, {stage}), naive_pooling(images, stage), 0.0f);
    }
  }
}

TEST(RunStages, ChainsStagesInOrder) {
  std::mt19937 generator(14);
  const ImageBatch images = random_images(generator, 3, 3, 31, 29);
  const Convolution first = random_convolution(generator, 3, 20, 5, 2, 2, true);
  const MaxPooling second{3, 2};
  const Convolution third = random_convolution(generator, 20, 6, 3, 1, 0, false);
  const ImageBatch expected =
      naive_convolution(naive_pooling(naive_convolution(images, first), second), third);
  expect_equal(run_stages(images, {first, second, third}), expected, 1e-2f);
}

TEST(RunStages, WithoutStagesReturnsItsInput) {
  std::mt19937 generator(15);
  const ImageBatch images = random_images(generator, 2, 3, 4, 5);
  expect_equal(run_stages(images, {}), images, 0.0f);
}

TEST(RunStages, RejectsWhatDoesNotFit) {
  std::mt19937 generator(16);
  const ImageBatch images = random_images(generator, 1, 3, 5, 5);
  const Convolution good = random_convolution(generator, 3, 2, 3, 1, 0, false);
  EXPECT_NO_THROW(run_stages(images, {good}));

  EXPECT_THROW(run_stages(images, {good, good}), std::invalid_argument);  // 2 channels into 3
  EXPECT_THROW(run_stages(images, {good, MaxPooling{4, 1}}), std::invalid_argument);
  EXPECT_THROW(run_stages(images, {MaxPooling{0, 1}}), std::invalid_argument);
  EXPECT_THROW(run_stages(images, {MaxPooling{2, 0}}), std::invalid_argument);
  Convolution bad = good;
  bad.weights.pop_back();
  EXPECT_THROW(run_stages(images, {bad}), std::invalid_argument);
  bad = good;
  bad.bias.clear();
  EXPECT_THROW(run_stages(images, {bad}), std::invalid_argument);
  bad = good;
  bad.kernel = 6;
  bad.weights.resize(2 * 3 * 36);
  EXPECT_THROW(run_stages(images, {bad}), std::invalid_argument);
  ImageBatch short_images = images;
  short_images.values.pop_back();
  EXPECT_THROW(run_stages(short_images, {good}), std::invalid_argument);
  EXPECT_THROW(run_stages(ImageBatch{}, {good}), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64

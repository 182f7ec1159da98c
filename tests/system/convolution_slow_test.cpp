// SPDX-License-Identifier: Apache-2.0
// Convolutions on the array of 64x64: layers as networks have them.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "tests/system/convolution_programs.hpp"

namespace gemm64::system_test {
namespace {

constexpr Output kInt8{ResultFormat(ResultCode::kInt8), -5, -128, 127};

Convolution square(std::uint32_t channels, std::uint32_t size, std::uint32_t out_channels,
                   std::uint32_t kernel = 1, std::uint32_t stride = 1, std::uint32_t groups = 1) {
  Convolution c;
  c.channels = channels;
  c.out_channels = out_channels;
  c.groups = groups;
  c.height = c.width = size;
  c.kernel_height = c.kernel_width = kernel;
  c.stride_height = c.stride_width = stride;
  c.pad_top = c.pad_left = (kernel - 1) / 2;
  c.out_height = c.out_width = (size + 2 * c.pad_top - kernel) / stride + 1;
  c.zero = 3;
  return c;
}

struct Layer {
  Convolution convolution;
  std::optional<std::size_t> source;
};

/// Clocks of a program beyond those of its tiles.
std::uint64_t overhead(const std::vector<Layer>& layers) {
  Rig rig(64);
  rig.set_latency(100);
  std::mt19937 random(3200);
  ProgramParts program(random, rig.driver.geometry());
  std::uint64_t tiles = 0;
  for (const Layer& layer : layers) {
    program.add(layer.convolution, kInt8, layer.source);
    const WindowPlan& plan = program.parts.back().job.plan.window->strips[0].plan;
    for (const WindowBlock& block : plan.blocks) tiles += block_clocks(plan, block);
  }
  const std::vector<std::uint64_t> clocks = expect_program(rig, program.parts);
  return std::accumulate(clocks.begin(), clocks.end(), std::uint64_t{0}) - tiles;
}

TEST(ConvolutionsOf64, OfAResidualBlockTakeLittleMoreThanTheirTiles) {
  EXPECT_EQ(
      overhead(
          {{square(1024, 14, 256), {}}, {square(256, 14, 256, 3), 0}, {square(256, 14, 1024), 1}}),
      745u);  // ResNet-50
}

TEST(ConvolutionsOf64, AfterDepthwiseOnes) {
  EXPECT_EQ(overhead({{square(64, 14, 384), {}},
                      {square(384, 14, 384, 3, 1, 384), 0},
                      {square(384, 14, 64), 1}}),
            728u);  // MobileNetV2
}

TEST(ConvolutionsOf64, OfABranchingBlockShareAStart) {
  EXPECT_EQ(overhead({{square(832, 7, 192), {}},
                      {square(832, 7, 48), {}},
                      {square(832, 7, 384), {}},
                      {square(832, 7, 128), {}},
                      {square(192, 7, 384, 3), 0},
                      {square(48, 7, 128, 5), 1}}),
            519u);  // GoogLeNet
}

// There is no overlap where one plane lies between blocks that need most of it.
TEST(ConvolutionsOf64, WithOnePlaneBetweenThem) {
  EXPECT_EQ(
      overhead({{square(256, 14, 64), {}}, {square(64, 14, 64, 3), 0}, {square(64, 14, 256), 1}}),
      1249u);
}

TEST(ConvolutionsOf64, WithAProjectionBesideThem) {
  EXPECT_EQ(overhead({{square(256, 14, 128), {}},
                      {square(256, 14, 512, 1, 2), {}},
                      {square(128, 14, 128, 3, 2), 0},
                      {square(128, 7, 512), 2}}),
            959u);
}

TEST(ConvolutionsOf64, GiveTheirValuesAtAnyShape) {
  Rig rig(64);
  for_seeds(3300, 40, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 150));
    const Convolution c = random_convolution(random, 200, 30, 8'000'000);
    ProgramParts program(random, rig.driver.geometry());
    program.add(c, random_output(random), {});
    expect_program(rig, program.parts);
  });
}

}  // namespace
}  // namespace gemm64::system_test

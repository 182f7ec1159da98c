// SPDX-License-Identifier: Apache-2.0
// Convolutions on the array of 64x64: layers as networks have them.

#include <numeric>

#include "tests/system/convolution_programs.hpp"
#include "tests/unit/tiling/known_programs.hpp"

namespace gemm64::system_test {
namespace {

constexpr Output kInt8{ResultFormat(ResultCode::kInt8), -5, -128, 127};

TEST(ConvolutionsOf64, TakeLittleMoreThanTheirTiles) {
  for (const KnownProgram& known : kKnownPrograms) {
    if (!known.small) continue;
    SCOPED_TRACE(known.name);
    Rig rig(64);
    rig.set_latency(100);
    std::mt19937 random(3200);
    ProgramParts program(random, rig.driver.geometry());
    std::uint64_t tiles = 0;
    for (const KnownLayer& layer : known.layers) {
      Convolution convolution = layer.convolution;
      convolution.zero = 3;
      program.add(convolution, kInt8, layer.source, false);
      const WindowPlan& plan = program.parts.back().job.plan.window->strips[0].plan;
      for (const WindowBlock& block : plan.blocks) tiles += block_cycles(plan, block);
    }
    const std::vector<std::uint64_t> cycles = expect_program(rig, program.parts);
    EXPECT_EQ(std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0}) - tiles,
              known.overhead);
  }
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

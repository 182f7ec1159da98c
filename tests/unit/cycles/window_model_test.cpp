// SPDX-License-Identifier: Apache-2.0
// Cycles of convolutions. That predictions equal the RTL's counters is for tests/system.

#include "host/cycles/cycle_model.hpp"
#include "host/tiling/window_plan.hpp"
#include "tests/test.hpp"
#include "tests/unit/cycles/windows.hpp"

namespace gemm64 {
namespace {

Counters predict(const Window& window, std::uint32_t most_rows, std::uint32_t latency = 100) {
  const WindowPlan plan =
      plan_window(window, balanced_rows(window.out_pixels(), most_rows), Geometry{});
  return predict_counters(program_of(plan), Geometry{}, MemoryTiming{latency});
}

std::uint64_t bound(const Window& window) { return window.out_pixels() * window.tiles(); }

// Measured on the RTL (rtl/README.md), and pinned: any change of these is one of the accelerator.
TEST(WindowModel, OfAConvolutionWith64Channels) {
  const Counters counters = predict(same(56, 1), 128);
  EXPECT_EQ(bound(same(56, 1)), 28'224u);
  EXPECT_EQ(counters[counter::kTotalClocks], 29'118u);
  EXPECT_EQ(counters[counter::kBytesActivations], 3136u * 64);
  EXPECT_EQ(counters[counter::kComputeCompute], 28'224u);
}

TEST(WindowModel, LayerCommandBetweenBlocksIsACycle) {
  std::vector<Command> program = program_of(plan_window(same(56, 1), 126, Geometry{}));
  const auto cycles = [&] {
    return predict_counters(program, Geometry{}, MemoryTiming{})[counter::kTotalClocks];
  };
  EXPECT_EQ(cycles(), 29'118u);
  ASSERT_EQ(program[2].opcode, Opcode::kSetWindow);
  program.insert(program.end() - 6, program[2]);
  EXPECT_EQ(cycles(), 29'119u);
}

TEST(WindowModel, OfADepthwiseConvolution) {
  Window depthwise = same(56, 6);
  depthwise.group_planes = depthwise.group_passes = 1;
  EXPECT_EQ(bound(depthwise), 169'344u);
  EXPECT_EQ(predict(depthwise, 128)[counter::kTotalClocks], 170'206u);
}

TEST(WindowModel, CausesAddUpToTheTotal) {
  for (const std::uint32_t size : {3, 5, 14, 28}) {
    for (const std::uint32_t rows : {7, 64, 128}) {
      const Counters counters = predict(same(size, 2), rows, 10 * size);
      for (const EngineEntry& engine : kEngines) {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < kCounters.size(); ++i) {
          if (std::string(kCounters[i].engine) == engine.name) sum += counters[i];
        }
        EXPECT_EQ(sum, counters[counter::kTotalClocks]) << engine.name;
      }
    }
  }
}

// Chunks wait for room of the pixels before them, after one convolution as after another.
TEST(WindowModel, FusedProgramIsFasterThanItsParts) {
  std::vector<Command> together;
  std::uint64_t apart = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::vector<Command> program = program_of(plan_window(same(28, 2), 112, Geometry{}));
    apart += predict_counters(program, Geometry{}, MemoryTiming{})[counter::kTotalClocks];
    together.insert(together.end(), program.begin(), program.end() - 1);
    if (i != 3) continue;
    together.push_back(program.back());
  }
  const Counters counters = predict_counters(together, Geometry{}, MemoryTiming{});
  EXPECT_LT(counters[counter::kTotalClocks], apart - 1500);
  EXPECT_GT(counters[counter::kTotalClocks], 4 * bound(same(28, 2)));
}

}  // namespace
}  // namespace gemm64

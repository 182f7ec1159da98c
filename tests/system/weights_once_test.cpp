// SPDX-License-Identifier: Apache-2.0
// Layers whose weights are loaded less often than they have blocks of rows: retained as a whole, or
// pass by pass in bands of blocks or for blocks that fill both banks of the accumulator. With each
// kind of memory, every value is right, and cycles and bytes are as predicted.

#include "host/util/error.hpp"
#include "tests/system/convolution_programs.hpp"

namespace gemm64::system_test {
namespace {

struct Setting {
  int n;
  const char* memory;
  unsigned bytes_per_cycle;
  double stalls;
  bool tight;
};

class WeightsOnce : public testing::TestWithParam<Setting> {};

/// A convolution of one group over the map that `before` gives, or over any.
Convolution layer(std::mt19937& random, unsigned n, const Convolution* before) {
  Convolution c;
  const bool pointwise = draw(random, 0, 2) != 0;
  c.images = before != nullptr ? before->images : draw(random, 1, 2);
  c.height = before != nullptr ? before->out_height : draw(random, 6, 18);
  c.width = before != nullptr ? before->out_width : draw(random, 10, 18);
  c.channels = before != nullptr ? before->out_channels : draw(random, n, (pointwise ? 6 : 1) * n);
  c.out_channels = draw(random, 1, 12 * n);
  c.groups = 1;
  c.kernel_height = c.kernel_width = pointwise ? 1 : 3;
  c.pad_top = c.pad_left = pointwise ? 0 : 1;
  c.stride_height = c.stride_width = draw(random, 0, 5) == 0 ? 2 : 1;
  c.dilation_height = c.dilation_width = 1;
  c.out_height = (c.height - 1) / c.stride_height + 1;
  c.out_width = (c.width - 1) / c.stride_width + 1;
  return c;
}

Output int8_output(std::mt19937& random) {
  Output output = random_output(random);
  while (output.format.code() != ResultCode::kInt8) output = random_output(random);
  return output;
}

/// Joins a convolution's blocks in bands, if these are possible. On small arrays a command has more
/// bytes than a tile, so the compiler does not. An even `band`: one
/// that reads pixels again for each pass.
void join_blocks(Job& job, const Geometry& geometry, std::uint32_t band) {
  const bool again = band % 2 == 0;
  if (job.plan.retains_weights || job.plan.window->in_strips()) return;
  WindowPlan& plan = job.plan.window->strips[0].plan;
  const Window& w = plan.window;
  const std::uint64_t words =
      std::uint64_t{job.plan.k_tiles} * geometry.n + geometry.weight_burst_beats() - 1;
  if (w.planes != w.group_planes || words > std::uint64_t{geometry.weight_tiles} * geometry.n ||
      !job.plan.has_one_set_of_lanes()) {
    return;
  }
  for (; band > 1; --band) {
    std::uint64_t freed = 0, most = 0;
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
      const std::size_t last =
          std::min<std::size_t>(i / band * band + band, plan.blocks.size()) - 1;
      most = std::max(most, plan.blocks[last].loaded() - freed);
      freed += plan.blocks[i].freed_pixels;
    }
    if (most <= plan.capacity) break;
  }
  plan.band = band;
  if (again && plan.blocks.size() > 1) {
    plan.band = static_cast<std::uint32_t>(plan.blocks.size());
    plan.reads_again = true;
  }
  job.layout = make_layout(job.plan);
  job.program = make_program(job.plan, job.layout);
}

/// Makes the blocks of a convolution of one group fill both banks.
void fill_banks(std::mt19937& random, Job& job, const Geometry& geometry) {
  if (job.plan.retains_weights || job.plan.window->in_strips()) return;
  const Window& w = job.plan.window->window;
  const std::uint64_t pixels = w.out_pixels(), bank = geometry.accumulator_rows;
  if (w.planes != w.group_planes || pixels <= bank || !job.plan.has_one_set_of_lanes()) return;
  const auto most = static_cast<unsigned>(std::min(2 * bank, pixels));
  const std::uint32_t rows = draw(random, 0, 3) == 0 ? most : draw(random, bank + 1, most);
  WindowCut cut = *job.plan.window;
  try {
    cut.strips[0].plan = plan_window(w, rows, geometry);
  } catch (const UsageError&) {
    return;  // its input rows do not fit
  }
  set_window(job.plan, std::move(cut));
  job.layout = make_layout(job.plan);
  job.program = make_program(job.plan, job.layout);
}

TEST_P(WeightsOnce, AreExact) {
  const auto n = static_cast<unsigned>(GetParam().n);
  RtlOptions options = Rig::options(GetParam().n, GetParam().stalls, 3, GetParam().bytes_per_cycle);
  ASSERT_TRUE(set_memory(options.memory, GetParam().memory));
  options.tight = GetParam().tight;
  Rig rig(options);
  unsigned retained = 0, bands = 0, again = 0, several = 0, filled = 0;
  std::mt19937 heights(7);  // of blocks that fill both banks
  for_all_seeds(6100, 40, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 60));
    ProgramParts program(random, rig.driver.geometry());
    std::optional<Convolution> before;
    for (unsigned i = 0; i < 3; ++i) {
      const bool reads = before && draw(random, 0, 3) != 0;
      const Convolution c = layer(random, n, reads ? &*before : nullptr);
      try {
        program.add(c, int8_output(random),
                    reads ? std::optional<std::size_t>(i - 1) : std::nullopt, false);
      } catch (const UsageError&) {
        ASSERT_TRUE(GetParam().tight);  // a scratchpad too small for it
        return;
      }
      before = c;
      Job& job = program.parts.back().job;
      join_blocks(job, rig.driver.geometry(), draw(random, 1, 6));
      if (!job.plan.has_bands()) fill_banks(heights, job, rig.driver.geometry());
      const Plan& plan = job.plan;
      const bool one_strip = plan.window && !plan.window->in_strips();
      filled += one_strip && plan.window->strips[0].plan.fills_both_banks() ? 1 : 0;
      retained += plan.retains_weights ? 1 : 0;
      bands += plan.has_bands() ? 1 : 0;
      again += plan.window && plan.window->strips[0].plan.reads_again ? 1 : 0;
      several += plan.has_bands() && plan.window->bands() > 1 ? 1 : 0;
    }
    expect_program(rig, program.parts);
  });
  EXPECT_GE(retained, at_least(4));
  EXPECT_GE(bands, at_least(3));
  EXPECT_GE(filled, at_least(3));
  EXPECT_TRUE(again >= at_least(3) || GetParam().tight) << again;
  EXPECT_TRUE(several >= at_least(3) || !GetParam().tight) << several;
}

INSTANTIATE_TEST_SUITE_P(
    Memories, WeightsOnce,
    testing::Values(Setting{4, "independent", 0, 0, false},
                    Setting{4, "independent", 0, 0.3, false}, Setting{4, "shared", 3, 0, false},
                    Setting{4, "dram:ddr4,width=16", 0, 0, false}, Setting{4, "shared", 3, 0, true},
                    Setting{4, "independent", 0, 0, true}, Setting{8, "independent", 2, 0, false},
                    Setting{8, "exclusive", 3, 0, false},
                    Setting{8, "dram:lpddr4,width=16", 0, 0, false}),
    [](const auto& info) {
      const Setting& setting = info.param;
      const std::string memory = setting.memory;
      return (setting.tight ? "TightN" : "N") + std::to_string(setting.n) +
             memory.substr(0, memory.find(':')) + std::to_string(setting.bytes_per_cycle) +
             (setting.stalls > 0 ? "Stalling" : "");
    });

}  // namespace
}  // namespace gemm64::system_test

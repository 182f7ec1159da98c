// SPDX-License-Identifier: Apache-2.0
// Convolutions on the accelerator, from memory to memory: values as a plain loop over the
// definition gives them, each input pixel read once, and cycles as predicted.

#include "host/device/reference_device.hpp"
#include "host/tiling/window_plan.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"
#include "tests/unit/tiling/convolutions.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 20, kClockLimit = 4'000'000;
constexpr std::uint32_t kWatchdog = 20'000;  // cycles without progress; no engine waits for so long

/// A rig whose engines are stopped soon where they wait for each other.
Rig window_rig(int n, double stalls, std::uint32_t seed, bool tight = false) {
  RtlOptions options = Rig::options(n, stalls, seed);
  options.memory_bytes = kMemoryBytes;
  options.tight = tight;
  return Rig(options);
}

Counters run(Rig& rig, std::vector<Command> program) {
  program.push_back(finish());
  rig.device->write_register(reg::kWatchdog, kWatchdog);
  rig.driver.run_program(0, program, kClockLimit);
  const Counters counters = rig.driver.read_counters();
  if (rig.memory.predictable()) {
    const Counters expected = predict_counters(program, rig.driver.geometry(), rig.memory);
    EXPECT_TRUE(counters == expected) << difference(expected, counters);
  }
  return counters;
}

constexpr std::uint64_t kOperands = 0x100000;  // after the ring

struct Setting {
  int n;
  double stalls;
  bool tight;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.tight ? "TightN" : "N") << setting.n << (setting.stalls > 0 ? "Stalling" : "");
}

class Windows : public testing::TestWithParam<Setting> {
 protected:
  Rig rig = window_rig(GetParam().n, GetParam().stalls, 3, GetParam().tight);
  std::uint32_t n = static_cast<std::uint32_t>(GetParam().n);
  ReferenceDevice reference{rig.driver.geometry(), kMemoryBytes};
  Driver reference_driver{reference};

  /// The reference moves the same bytes; what it computes is checked like the RTL's.
  void expect_same_bytes(std::vector<Command> program, const Counters& found) {
    program.push_back(finish());
    reference_driver.run_program(0, program, kClockLimit);
    const Counters expected = reference_driver.read_counters();
    for (std::size_t i = counter::kBytesWeights; i < expected.size(); ++i) {
      EXPECT_EQ(found[i], expected[i]) << "bytes of " << kCounters[i].cause;
    }
  }
};

TEST_P(Windows, OfRandomConvolutionsGiveTheirValues) {
  unsigned done = 0;
  for_seeds(1, 60, [&](std::mt19937& random) {
    const PlainConvolution c = random_convolution(random, n);
    SCOPED_TRACE(describe(c));
    WindowPlan plan;
    try {
      plan = random_plan(random, c.window, rig.driver.geometry());
    } catch (const UsageError&) {
      return;  // some rows do not fit the tight scratchpad
    }
    SCOPED_TRACE(fmt::format("capacity {}, blocks of {}", plan.capacity, plan.blocks[0].rows));
    const PlacedConvolution placed(c, n, kOperands);
    ASSERT_LT(placed.end(), kMemoryBytes);
    placed.write(*rig.device);
    rig.set_latency(draw(random, 1, 120));
    const std::vector<Command> program = window_program(plan, placed.operands());
    const Counters counters = run(rig, program);
    placed.check(*rig.device);
    placed.write(reference);
    expect_same_bytes(program, counters);
    placed.check(reference);
    expect_causes_add_up(counters);
    EXPECT_EQ(counters[counter::kBytesActivations], plan.loaded_words() * n);
    EXPECT_LE(counters[counter::kBytesActivations], c.window.pixels() * c.window.planes * n);
    EXPECT_EQ(counters[counter::kBytesResults], placed.result_bytes());
    ++done;
  });
  EXPECT_GE(done, at_least(seeds_to_run(20)));
}

// A convolution, a product, another convolution: none waits for a FENCE, and each finds the
// scratchpad as it needs it.
TEST_P(Windows, FollowEachOtherWithoutAFence) {
  for_seeds(100, 20, [&](std::mt19937& random) {
    std::vector<PlainConvolution> convolutions;
    for (unsigned i = draw(random, 2, 4); i > 0; --i) {
      convolutions.push_back(random_convolution(random, n));
    }
    std::vector<PlacedConvolution> placed;
    std::vector<Command> program;
    std::uint64_t address = kOperands;
    const std::uint32_t rows = draw(random, 1, 9);
    const MatrixI8 a = random_matrix(random, rows, n), w = random_matrix(random, n, n);
    for (Device* device :
         {static_cast<Device*>(rig.device.get()), static_cast<Device*>(&reference)}) {
      device->write_memory(0xc0000, a.data(), rows * n);
      device->write_memory(0xc1000, w.data(), n * n);
    }
    std::uint32_t products = 0;
    for (const PlainConvolution& c : convolutions) {
      WindowPlan plan;
      try {
        plan = random_plan(random, c.window, rig.driver.geometry());
      } catch (const UsageError&) {
        continue;
      }
      placed.emplace_back(c, n, address);
      address = placed.back().end();
      ASSERT_LT(address, kMemoryBytes);
      placed.back().write(*rig.device);
      placed.back().write(reference);
      const std::vector<Command> part = window_program(plan, placed.back().operands());
      program.insert(program.end(), part.begin(), part.end());
      if (draw(random, 0, 1) == 0) continue;
      Command load = load_activations(0xc0000, 1);
      load.rows = load.stride = rows;
      Command result = store(0xc2000 + products++ * 0x1000, rows);
      result.blocks = 1;
      result.stride = rows;
      program.insert(program.end(), {load_weights(0xc1000, n), load, matmul(rows), result});
    }
    rig.set_latency(draw(random, 1, 120));
    expect_same_bytes(program, run(rig, program));
    const MatrixI32 expected = reference_gemm(a, w);
    for (Device* device :
         {static_cast<Device*>(rig.device.get()), static_cast<Device*>(&reference)}) {
      SCOPED_TRACE(device->name());
      for (const PlacedConvolution& one : placed) one.check(*device);
      for (std::uint32_t p = 0; p < products; ++p) {
        MatrixI32 sums(rows, n);
        device->read_memory(0xc2000 + p * 0x1000, sums.data(), rows * n * 4);
        EXPECT_EQ(sums, expected) << "product " << p;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, Windows,
                         testing::Values(Setting{2, 0, false}, Setting{4, 0, false},
                                         Setting{8, 0, false}, Setting{4, 0, true},
                                         Setting{2, 0.4, false}, Setting{8, 0.4, false},
                                         Setting{4, 0.3, true}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
// The array of 64x64: ragged shapes, stalls, errors, and AlexNet's Linear layers.

#include "host/device/reference_device.hpp"
#include "tests/system/system.hpp"
#include "tests/unit/runtime/chains.hpp"

namespace gemm64::system_test {
namespace {

TEST(FullSizeSlow, RaggedShapesAreExact) {
  Rig rig(64);
  std::mt19937 random(1100);
  const std::vector<std::uint64_t> sizes{1, 2, 63, 64, 65, 127, 129, 1000};
  for (const std::uint64_t m : sizes) {
    for (const std::uint64_t k : sizes) {
      for (const std::uint64_t n : sizes) {
        expect_exact(rig, {{m, k, n}, Accumulate::kDevice, draw(random, 1, 300)}, random);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(FullSizeSlow, RaggedShapesAddedOnHostAreExact) {
  Rig rig(64);
  std::mt19937 random(1101);
  const std::vector<std::uint64_t> sizes{1, 63, 65, 129, 300};
  for (const std::uint64_t m : sizes) {
    for (const std::uint64_t k : sizes) {
      for (const std::uint64_t n : sizes) {
        expect_exact(rig, {{m, k, n}, Accumulate::kHost, draw(random, 1, 300)}, random);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(FullSizeSlow, RandomJobsAreExact) {
  Rig rig(64);
  for_seeds(1110, 40, [&](std::mt19937& random) {
    expect_exact(rig, random_workload(random, 64, 400), random);
  });
}

TEST(FullSizeSlow, BlocksOfScratchpadSizeAreExact) {
  Rig rig(64);
  std::mt19937 random(1120);
  for (const std::uint64_t k : {72 * 64, 72 * 64 + 1}) {
    expect_exact(rig, {{128, k, 130}}, random);
  }
}

TEST(FullSizeSlow, ExtremesAreExact) {
  Rig rig(64);
  const GemmShape shape{65, 9216, 65};
  const MatrixI8 a = MatrixI8::Constant(65, 9216, -128);
  const MatrixI8 w = MatrixI8::Constant(65, 9216, -128);
  EXPECT_EQ(run(rig, {shape}, {a, w}).sums, MatrixI32::Constant(65, 65, 9216 * 16384));
  expect_exact(rig, {shape}, {a, MatrixI8::Constant(65, 9216, 127)});
}

TEST(FullSizeSlow, StallsGiveExactValues) {
  for (const double probability : {0.1, 0.5, 0.9}) {
    Rig rig(64, probability, 1130);
    std::mt19937 random(1131);
    for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
      const Workload work{{129, 200, 130}, accumulate, 60};
      expect_values(rig, work, random_operands(random, work.shape));
    }
  }
}

// The fast model, whose ports get their inputs a cycle ahead.
TEST(FullSizeSlow, DramChannelsAreExact) {
  for (const std::string& preset : dram_presets()) {
    SCOPED_TRACE(preset);
    RtlOptions options = Rig::options(64);
    ASSERT_TRUE(set_memory(options.memory, "dram:" + preset));
    Rig rig(options);
    for_seeds(1140, 5, [&](std::mt19937& random) {
      expect_exact(rig, random_workload(random, 64, 400), random);
    });
  }
}

// These hung before the weights reader kept room for what it asks for.
TEST(FullSizeSlow, ProductsWithSharedMemoryAreExact) {
  for (const MemorySharing sharing : {MemorySharing::kShared, MemorySharing::kExclusive}) {
    RtlOptions options = Rig::options(64);
    options.memory.sharing = sharing;
    Rig rig(options);
    std::mt19937 random(1135);
    for (const GemmShape shape :
         {GemmShape{128, 64, 256}, GemmShape{729, 1600, 192}, GemmShape{3025, 363, 64},
          GemmShape{64, 4096, 1000}, GemmShape{1, 4096, 1000}}) {
      expect_exact(rig, {shape}, random);
    }
  }
}

TEST(FullSizeSlow, ErrorsAndResetsLeaveACleanState) {
  Rig rig(64);
  std::mt19937 random(1140);
  const Workload work{{129, 200, 130}, Accumulate::kDevice, 60};
  const Operands operands = random_operands(random, work.shape);
  for (const std::uint64_t burst : {0, 1, 5, 9, 12}) {
    rig.device->ports().weights.fail_burst(burst);
    EXPECT_THAT(message_of<DeviceError>([&] { run(rig, work, operands); }), Says("BUS_SLAVE"));
    expect_exact(rig, work, operands);
    rig.device->ports().data.fail_burst(burst);
    EXPECT_THAT(message_of<DeviceError>([&] { run(rig, work, operands); }), Says("BUS_SLAVE"));
    expect_exact(rig, work, operands);
    rig.device->ports().results.fail_burst(burst);
    EXPECT_THAT(message_of<DeviceError>([&] { run(rig, work, operands); }), Says("BUS_SLAVE"));
    expect_exact(rig, work, operands);
  }
}

class AlexNetOnRtlSlow : public testing::Test {
 protected:
  static constexpr GemmShape layer(int index, std::uint64_t batch) {
    constexpr std::uint64_t kIn[] = {9216, 4096, 4096}, kOut[] = {4096, 4096, 1000};
    return {batch, kIn[index], kOut[index]};
  }

  /// Runs the three Linear layers on random operands, and returns the cycles of all.
  static std::uint64_t run_all(std::uint64_t batch) {
    RtlOptions options;
    options.n = 64;
    Rig rig(options);
    std::mt19937 random(1150);
    std::uint64_t cycles = 0;
    for (int i = 0; i < 3; ++i) {
      const Workload work{layer(i, batch)};
      const Operands operands = random_operands(random, work.shape);
      cycles += expect_exact(rig, work, operands).counters[counter::kTotalClocks];
    }
    return cycles;
  }
};

// With command fetch, loads, stores and a latency of 100 cycles: no change of the hardware may cost
// a cycle.
TEST_F(AlexNetOnRtlSlow, TakesAtMost919634AtBatch64) { EXPECT_LE(run_all(64), 919'634u); }

TEST_F(AlexNetOnRtlSlow, TakesAtMost918686AtBatch1) { EXPECT_LE(run_all(1), 918'686u); }

/// The three as one program, each on the 8-bit results of the one before; every value checked.
std::uint64_t run_chained(std::uint64_t batch) {
  RtlOptions options;
  options.n = 64;
  Rig rig(options);
  std::mt19937 random(1170);
  const auto chain = run_chain(rig.driver, rig.memory, random_activations(random, batch, 9216),
                               random_chain(random, {9216, 4096, 4096, 1000}));
  std::uint64_t cycles = 0;
  for (const ChainedLayer& layer : chain) {
    EXPECT_EQ(layer.mismatches.count, 0u);
    EXPECT_TRUE(layer.counters == layer.predicted) << difference(layer.predicted, layer.counters);
    cycles += layer.counters[counter::kTotalClocks];
  }
  return cycles;
}

TEST_F(AlexNetOnRtlSlow, ChainTakesAtMost918165AtB64) { EXPECT_LE(run_chained(64), 918'165u); }

TEST_F(AlexNetOnRtlSlow, ChainTakesAtMost917976AtB1) { EXPECT_LE(run_chained(1), 917'976u); }

// The reference device is an oracle for people without the RTL: its values, at full size.
TEST_F(AlexNetOnRtlSlow, ReferenceHasTheSameValues) {
  ReferenceDevice device;
  Driver driver(device);
  std::mt19937 random(1160);
  for (int i = 0; i < 3; ++i) {
    const Operands operands = random_operands(random, layer(i, 64));
    const Job job = gemm64::make_job("layer", layer(i, 64), Accumulate::kDevice, driver.geometry());
    const GemmResult result = driver.run(job, pack_weights(job, operands.w), operands.a);
    EXPECT_EQ(result.sums, reference_gemm(operands.a, operands.w));
  }
}

}  // namespace
}  // namespace gemm64::system_test

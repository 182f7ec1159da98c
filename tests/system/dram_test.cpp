// SPDX-License-Identifier: Apache-2.0
// All three ports in front of a DRAM channel: what programs take is predicted, and so are the rows
// that they hit.
#include "tests/dram.hpp"

#include "host/cycles/tlm_device.hpp"
#include "tests/system/predicted.hpp"
#include "tests/system/random_windows.hpp"

namespace gemm64::system_test {
namespace {

Rig dram_rig(int n, const DramTiming& timing, bool tight = false) {
  RtlOptions options = Rig::options(n);
  options.memory_bytes = kMemoryBytes;
  options.memory.sharing = MemorySharing::kDram;
  options.memory.dram = timing;
  options.tight = tight;
  return Rig(options);
}

/// Three programs, one after the other without a hard reset, each of which takes what is predicted,
/// and counts bursts and rows so. Few of windows are refused.
void expect_exact(std::mt19937& random, Rig& rig,
                  std::vector<Command> (*make)(std::mt19937&, const Geometry&, unsigned parts)) {
  for (unsigned i = 0; i < 3 && !testing::Test::HasFailure(); ++i) {
    const auto program = make(random, rig.driver.geometry(), draw(random, 1, 5));
    const DramCounts before = rig.device->dram_counts();
    if (!expect_predicted(rig, program, random_latency(random))) continue;
    DramCounts expected = predict(program, rig.driver.geometry(), rig.memory).dram;
    EXPECT_GT(expected.bursts(), 0u);
    EXPECT_TRUE((expected += before) == rig.device->dram_counts());
  }
}

struct Array {
  int n;
  bool tight;
};

class Dram : public testing::TestWithParam<Array> {};

TEST_P(Dram, RandomProgramsAreExact) {
  for_seeds(5100, 25, [](std::mt19937& random) {
    Rig rig = dram_rig(GetParam().n, random_dram(random), GetParam().tight);
    expect_exact(random, rig, random_program);
  });
}

TEST_P(Dram, RandomWindowsAreExact) {
  for_seeds(5200, 25, [](std::mt19937& random) {
    Rig rig = dram_rig(GetParam().n, random_dram(random), GetParam().tight);
    expect_exact(random, rig, random_window_program);
  });
}

TEST_P(Dram, JobsOnPresetsAreExact) {
  for (const std::string& preset : dram_presets()) {
    SCOPED_TRACE(preset);
    for_seeds(5300, 10, [&](std::mt19937& random) {
      Rig rig = dram_rig(GetParam().n, dram_timing("dram:" + preset), GetParam().tight);
      for (unsigned i = 0; i < 4 && !testing::Test::HasFailure(); ++i) {
        const Workload work = random_workload(random, static_cast<unsigned>(GetParam().n), 60);
        system_test::expect_exact(rig, work, random_operands(random, work.shape));
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Arrays, Dram,
                         testing::Values(Array{2, false}, Array{4, false}, Array{8, false},
                                         Array{4, true}),
                         [](const auto& info) {
                           return (info.param.tight ? "TightN" : "N") +
                                  std::to_string(info.param.n);
                         });

// Values, where channels stall at random; a memory that stalls is not predicted.
TEST(StallingDram, GivesTheSameValues) {
  for_seeds(5400, 10, [](std::mt19937& random) {
    RtlOptions options = Rig::options(4, 0.3, static_cast<std::uint32_t>(random()));
    options.memory.sharing = MemorySharing::kDram;
    options.memory.dram = random_dram(random);
    Rig rig(options);
    for (unsigned i = 0; i < 4 && !testing::Test::HasFailure(); ++i) {
      const Workload work = random_workload(random, 4, 40);
      expect_values(rig, work, random_operands(random, work.shape));
    }
  });
}

// Shuffled, programs stop for ever where it is predicted.
TEST(DramPrograms, AreExactOrNeverEnd) {
  Rig rig = dram_rig(4, dram_timing("dram:ddr4,width=16"));
  unsigned ended = 0, stopped = 0;
  for_seeds(5500, 30, [&](std::mt19937& random) {
    const auto program =
        random_order(random, random_program(random, rig.driver.geometry(), draw(random, 1, 4)));
    ++(expect_predicted(rig, program, random_latency(random)) ? ended : stopped);
  });
  EXPECT_GE(ended, at_least(seeds_to_run(5)));
  EXPECT_GE(stopped, at_least(seeds_to_run(5)));
}

// The transaction-level device counts what the RTL does.
TEST(DramPrograms, TakeAsLongOnTlm) {
  for_seeds(5600, 10, [](std::mt19937& random) {
    Rig rig = dram_rig(4, random_dram(random));
    TlmDevice tlm(rig.driver.geometry(), rig.memory, kMemoryBytes);
    Driver driver(tlm, Timeouts{0});
    for (unsigned i = 0; i < 3 && !testing::Test::HasFailure(); ++i) {
      const auto program = random_program(random, rig.driver.geometry(), draw(random, 1, 4));
      rig.driver.run_program(0, program, kClockLimit);
      driver.run_program(0, program, kClockLimit);
      const Counters expected = driver.read_counters(), found = rig.driver.read_counters();
      EXPECT_TRUE(expected == found) << difference(expected, found);
    }
    EXPECT_TRUE(tlm.dram_counts() == rig.device->dram_counts());
  });
}

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
// All three ports before one memory, as on most buses: no product may come to a hang, and
// what each takes is predicted.

#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

struct Setting {
  int n;
  bool tight;
  MemorySharing sharing;
  double stalls;
  unsigned bytes_per_cycle;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.tight ? "TightN" : "N") << setting.n
       << (setting.sharing == MemorySharing::kShared ? "Shared" : "Exclusive") << "Stalls"
       << static_cast<int>(setting.stalls * 100) << "Bytes" << setting.bytes_per_cycle;
}

class Sharing : public testing::TestWithParam<Setting> {
 protected:
  static RtlOptions options(std::uint32_t seed) {
    const Setting& setting = GetParam();
    RtlOptions options = Rig::options(setting.n, setting.stalls, seed, setting.bytes_per_cycle);
    options.tight = setting.tight;
    options.memory.sharing = setting.sharing;
    return options;
  }
};

/// Cycles too, unless the memory stalls.
void check(Rig& rig, const Workload& work, const Operands& operands) {
  if (rig.memory.predictable()) {
    expect_exact(rig, work, operands);
  } else {
    expect_values(rig, work, operands);
  }
}

TEST_P(Sharing, RandomJobsAreExact) {
  const auto n = static_cast<unsigned>(GetParam().n);
  for_seeds(600, 4, [&](std::mt19937& random) {
    Rig rig(options(static_cast<std::uint32_t>(random())));
    for (unsigned i = 0; i < 20 && !HasFailure(); ++i) {
      const Workload work = random_workload(random, n, 45);
      check(rig, work, random_operands(random, work.shape));
    }
  });
}

// Weights fill their buffer long before the activations of that many rows have come.
TEST_P(Sharing, ManyRowsAndManyTilesAreExact) {
  const auto n = static_cast<std::uint64_t>(GetParam().n);
  std::mt19937 random(610);
  Rig rig(options(611));
  for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
    for (const unsigned latency : {1u, 30u, 250u}) {
      const Workload work{{130, 6 * n, 5 * n}, accumulate, latency};
      check(rig, work, random_operands(random, work.shape));
    }
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const MemorySharing sharing : {MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const double stalls : {0.0, 0.1, 0.5}) {
      all.push_back({4, true, sharing, stalls, 0});
      all.push_back({4, false, sharing, stalls, 0});
      all.push_back({8, false, sharing, stalls, 0});
    }
    all.push_back({4, true, sharing, 0.2, 3});
    all.push_back({8, false, sharing, 0, 5});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, Sharing, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

// The tight model apart from sharing: buffers of two tiles, two bursts in flight.
TEST(TightBuffers, RandomJobsAreExact) {
  std::mt19937 random(620);
  RtlOptions options = Rig::options(4);
  options.tight = true;
  Rig rig(options);
  EXPECT_EQ(rig.driver.geometry().weight_tiles, 2u);
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    expect_exact(rig, random_workload(random, 4, 60), random);
  }
}

// One beat per cycle for everything: what all ports moved is a bound of the cycles.
TEST(SharedMemory, AllPortsMoveABeatPerCycle) {
  for (const MemorySharing sharing : {MemorySharing::kShared, MemorySharing::kExclusive}) {
    std::mt19937 random(630);
    RtlOptions options = Rig::options(8);
    options.memory.sharing = sharing;
    Rig rig(options);
    const Workload work{{64, 80, 80}, Accumulate::kHost, 20};
    const Counters counters = expect_exact(rig, work, random_operands(random, work.shape)).counters;
    const std::uint64_t bytes =
        counters[counter::kBytesWeights] + counters[counter::kBytesActivations] +
        counters[counter::kBytesCommands] + counters[counter::kBytesResults];
    EXPECT_GE(counters[counter::kTotalClocks], bytes / 8);
    EXPECT_LE(counters[counter::kTotalClocks], bytes / 8 * 3 / 2);
  }
}

}  // namespace
}  // namespace gemm64::system_test

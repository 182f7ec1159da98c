// SPDX-License-Identifier: Apache-2.0
// Every channel of every port may be held up in any cycle: values stay exact, cycles accounted for.

#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

struct Setting {
  int n;
  double probability;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << "N" << setting.n << "Stalls" << static_cast<int>(setting.probability * 100) << "Percent";
}

class Stalls : public testing::TestWithParam<Setting> {};

TEST_P(Stalls, RandomJobsGiveExactValues) {
  const Setting setting = GetParam();
  const unsigned products = setting.probability > 0.8 ? 6 : 25;
  for_seeds(500, 4, [&](std::mt19937& random) {
    Rig rig(setting.n, setting.probability, static_cast<std::uint32_t>(random()));
    for (unsigned i = 0; i < products && !testing::Test::HasFailure(); ++i) {
      const Workload work = random_workload(random, static_cast<unsigned>(setting.n), 40);
      expect_values(rig, work, random_operands(random, work.shape));
    }
  });
}

TEST_P(Stalls, SeveralBlocksOfRowsGiveExactValues) {
  const Setting setting = GetParam();
  const auto n = static_cast<std::uint64_t>(setting.n);
  std::mt19937 random(510);
  Rig rig(setting.n, setting.probability, 511);
  for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
    const Workload work{{259, 2 * n + 1, 3 * n - 1}, accumulate, 20};
    expect_values(rig, work, random_operands(random, work.shape));
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, Stalls,
                         testing::Values(Setting{2, 0.1}, Setting{2, 0.5}, Setting{2, 0.9},
                                         Setting{4, 0.1}, Setting{4, 0.5}, Setting{4, 0.9},
                                         Setting{8, 0.1}, Setting{8, 0.5}, Setting{8, 0.9}),
                         testing::PrintToStringParamName());

// A stream larger than the scratchpad wraps round it while words are taken out and put in.
TEST(Stalls, LargeOperandsGiveExactValues) {
  std::mt19937 random(520);
  Rig rig(8, 0.3, 521);
  const Workload work{{130, 8 * 150, 20}, Accumulate::kDevice, 30};
  expect_values(rig, work, random_operands(random, work.shape));
}

TEST(Throttle, SlowPortsAreExactAndTakeTheirTime) {
  for (const unsigned bytes : {1u, 3u, 7u}) {
    std::mt19937 random(530);
    Rig rig(8, 0, 1, bytes);
    for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
      const Workload work{{33, 65, 41}, accumulate, 50};
      const GemmResult result = expect_exact(rig, work, random_operands(random, work.shape));
      // The port that moves most gives the bound; one beat may be saved up before the work.
      const Counters& counters = result.counters;
      const std::uint64_t most =
          std::max(counters[counter::kBytesWeights], counters[counter::kBytesResults]);
      EXPECT_GE(counters[counter::kTotalClocks], (most - 8) / bytes);
    }
  }
}

TEST(Throttle, AMemoryThatKeepsUpCostsNoCycle) {
  std::mt19937 random(540);
  Rig rig(8, 0, 1, 8);
  for (int i = 0; i < 20; ++i) expect_exact(rig, random_workload(random, 8, 60), random);
}

TEST(Stalls, EqualSeedsGiveEqualRuns) {
  const Workload work{{20, 33, 17}, Accumulate::kDevice, 40};
  const auto counters = [&work](std::uint32_t seed) {
    std::mt19937 random(550);
    Rig rig(8, 0.5, seed);
    return run(rig, work, random_operands(random, work.shape)).counters;
  };
  EXPECT_EQ(counters(7), counters(7));
  EXPECT_NE(counters(7), counters(8));
}

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
// Timelines: every cycle of every engine under the cause that the device's counters have.
#include "tests/system/timeline.hpp"

namespace gemm64::system_test {
namespace {

TEST(Timeline, AccountsForEveryCycle) {
  for (const int n : {2, 4, 8}) {
    std::mt19937 random(2000);
    Rig rig(n);
    const std::uint64_t size = static_cast<std::uint64_t>(n);
    expect_timeline(rig,
                    {{{1, 1, 1}},
                     {{size, size, size}, Accumulate::kDevice, 1},
                     {{5 * size + 1, 3 * size - 1, 2 * size + 1}},
                     {{5 * size + 1, 3 * size - 1, 2 * size + 1}, Accumulate::kHost, 7}},
                    random);
    if (HasFailure()) return;
  }
}

TEST(Timeline, AccountsForManyBlocksOfM) {
  std::mt19937 random(2001);
  Rig rig(8);
  expect_timeline(rig, {{{259, 24, 20}}}, random);  // two groups
  Rig other(8);
  expect_timeline(other, {{{128, 8 * 73, 16}}}, random);  // 73 * 128 words, the scratchpad has 9216
}

TEST(Timeline, AccountsForStalls) {
  for_seeds(2010, 12, [](std::mt19937& random) {
    const double stalls = 0.1 * draw(random, 1, 7);
    Rig rig(1 << draw(random, 1, 3), stalls, random());
    expect_timeline(rig, {random_workload(random, 8, 60), random_workload(random, 8, 60)}, random);
  });
}

TEST(Timeline, AccountsForSlowPorts) {
  for_seeds(2030, 6, [](std::mt19937& random) {
    Rig rig(8, 0, 1, draw(random, 1, 7));
    expect_timeline(rig, {random_workload(random, 8, 60)}, random);
  });
}

TEST(Timeline, AccountsForRandomJobs) {
  for_seeds(2040, 10, [](std::mt19937& random) {
    Rig rig(8);
    expect_timeline(rig, {random_workload(random, 8, 100), random_workload(random, 8, 100)},
                    random);
  });
}

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
// Every shape gives the oracle's values in exactly the cycles, by cause, that the model predicts.

#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

// M, K and N each go through `sizes`; the way of adding and the latency change from job to job.
void expect_exact_for_all(Rig& rig, const std::vector<std::uint64_t>& sizes, std::uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const std::uint64_t m : sizes) {
    for (const std::uint64_t k : sizes) {
      for (const std::uint64_t n : sizes) {
        for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
          expect_exact(rig, {{m, k, n}, accumulate, draw(random, 1, 150)}, random);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// The example that host/cycles/README.md goes through by hand.
TEST(Shapes, TheReadmesExampleTakes188Cycles) {
  Rig rig(2);
  std::mt19937 random(10);
  const Workload work{{2, 4, 2}, Accumulate::kDevice, 3};
  const Counters counters = run(rig, work, random_operands(random, work.shape)).counters;
  EXPECT_EQ(counters[counter::kTotalClocks], 188u);
  EXPECT_EQ(counters[counter::kComputeWaitActivations], 65u);
}

TEST(Shapes, AllUpTo7AreExactAtN2) {
  Rig rig(2);
  expect_exact_for_all(rig, {1, 2, 3, 4, 5, 6, 7}, 11);
}

TEST(Shapes, EdgesAreExactAtN4) {
  Rig rig(4);
  expect_exact_for_all(rig, {1, 2, 3, 4, 5, 7, 8, 9, 13}, 12);
}

TEST(Shapes, EdgesAreExactAtN8) {
  Rig rig(8);
  expect_exact_for_all(rig, {1, 2, 7, 8, 9, 15, 16, 17}, 13);
}

// The loads and the array start with the shortest latencies, and hide the longest.
TEST(Shapes, EveryLatencyUpTo40IsExact) {
  for (const int n : {2, 4, 8}) {
    Rig rig(n);
    std::mt19937 random(14);
    for (unsigned latency = 1; latency <= 40; ++latency) {
      const auto size = static_cast<std::uint64_t>(2 * n + 1);
      expect_exact(rig, {{size, size, size}, Accumulate::kDevice, latency}, random);
      expect_exact(rig, {{1, size, size}, Accumulate::kHost, latency}, random);
      if (HasFailure()) return;
    }
  }
}

TEST(Shapes, RowsFarAboveTheAccumulatorAreExact) {
  for (const int n : {2, 8}) {
    Rig rig(n);
    std::mt19937 random(15);
    const auto size = static_cast<std::uint64_t>(3 * n + 1);
    // Around one and two banks, and several blocks, whose heights differ by one row or not at all.
    for (const std::uint64_t m : {127, 128, 129, 130, 255, 256, 257, 300, 384, 641}) {
      expect_exact(rig, {{m, size, size}, Accumulate::kDevice, draw(random, 1, 300)}, random);
      expect_exact(rig, {{m, size, size}, Accumulate::kHost, draw(random, 1, 300)}, random);
      if (HasFailure()) return;
    }
  }
}

// 9216 words of activations fit: the block stays. One word more: they are loaded for each tile of
// N.
TEST(Shapes, BlocksAroundTheScratchpadsSizeAreExact) {
  Rig rig(8);
  ASSERT_EQ(rig.driver.geometry().scratchpad_words, 9216u);
  std::mt19937 random(16);
  for (const std::uint64_t k_tiles : {71, 72, 73}) {
    for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
      const Workload work{{128, 8 * k_tiles, 17}, accumulate, 100};
      const Plan plan = make_job(rig, work).plan;
      ASSERT_EQ(plan.groups.size(), 1u);
      EXPECT_EQ(plan.groups[0].retain, k_tiles <= 72);
      expect_exact(rig, work, random);
    }
  }
}

TEST(Shapes, LargeOperandsStreamThrough) {
  Rig rig(8);
  std::mt19937 random(17);
  expect_exact(rig, {{130, 8 * 200, 20}, Accumulate::kDevice, 100}, random);
  expect_exact(rig, {{300, 8 * 99 + 3, 9}, Accumulate::kHost, 7}, random);
  expect_exact(rig, {{128, 8 * 73, 24}, Accumulate::kDevice, 300}, random);
}

TEST(Shapes, RandomJobsAreExact) {
  for (const int n : {2, 4, 8}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    Rig rig(n);
    for_seeds(100, 150, [&](std::mt19937& random) {
      expect_exact(rig, random_workload(random, static_cast<unsigned>(n), 60), random);
    });
  }
}

// Between the arrays of the tests and that of the program: the same RTL, other widths.
TEST(Shapes, EdgesAndRandomJobsAreExactAtN16AndN32) {
  for (const int n : {16, 32}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    Rig rig(n);
    const auto size = static_cast<std::uint64_t>(n);
    expect_exact_for_all(rig, {1, size - 1, size, size + 1}, 18);
    for_seeds(200, 12, [&](std::mt19937& random) {
      expect_exact(rig, random_workload(random, static_cast<unsigned>(n), 150), random);
    });
  }
}

// Long K and many tiles, where what is in progress on the bus reaches its limits.
TEST(Shapes, LargerRandomJobsAreExact) {
  for (const int n : {4, 8}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    Rig rig(n);
    for_seeds(300, 12, [&](std::mt19937& random) {
      expect_exact(rig, random_workload(random, static_cast<unsigned>(n), 330), random);
    });
  }
}

}  // namespace
}  // namespace gemm64::system_test

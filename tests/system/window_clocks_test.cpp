// SPDX-License-Identifier: Apache-2.0
// Programs of windows and products take the clocks that the model predicts, behind any memory that
// does not stall, and never end where it says so.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/system/predicted.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

class WindowClocks : public OnEverySetting {};

TEST_P(WindowClocks, OfRandomProgramsAreExact) {
  Rig rig = this->rig(0);
  for_seeds(1300 + static_cast<unsigned>(GetParam().n), 40, [&](std::mt19937& random) {
    const auto program = random_window_program(random, rig.driver.geometry(), draw(random, 1, 5));
    EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
  });
}

TEST_P(WindowClocks, OfThrottledProgramsAreExact) {
  const auto n = static_cast<unsigned>(GetParam().n);
  for (unsigned bytes = 1; bytes < n; ++bytes) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes a clock");
    Rig rig = this->rig(bytes);
    for_seeds(1350, 4, [&](std::mt19937& random) {
      const auto program = random_window_program(random, rig.driver.geometry(), draw(random, 1, 3));
      EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, WindowClocks, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

// Chunks before the blocks that make room for them, MATMULs before what they wait for.
TEST(MergedWindows, AreExactOrRefusedOrNeverEnd) {
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const int n : {2, 4, 8}) {
      SCOPED_TRACE(std::string(name(sharing)) + ", N = " + std::to_string(n));
      Rig rig = small_rig(n, sharing);
      unsigned ended = 0, stopped = 0;
      for_seeds(1400 + static_cast<unsigned>(n), 40, [&](std::mt19937& random) {
        const auto program = random_merge(
            random, random_window_program(random, rig.driver.geometry(), draw(random, 1, 2)));
        ++(expect_predicted(rig, program, random_latency(random)) ? ended : stopped);
      });
      EXPECT_GE(ended, 8u);
      EXPECT_GE(stopped, 8u);
    }
  }
}

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
// Programs that no job makes take the clocks that the model predicts, behind any memory that does
// not stall, and never end where it says so.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/system/predicted.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

class ProgramClocks : public OnEverySetting {};

TEST_P(ProgramClocks, OfRandomProgramsAreExact) {
  Rig rig = this->rig(0);
  for_seeds(800 + static_cast<unsigned>(GetParam().n), 40, [&](std::mt19937& random) {
    const auto program = random_program(random, rig.driver.geometry(), draw(random, 1, 8));
    EXPECT_TRUE(expect_predicted(rig, program, random_latency(random))) << list(program);
  });
}

// Every number of bytes a clock, those that do not divide a beat above all: a program begins as if
// none had run before.
TEST_P(ProgramClocks, OfThrottledProgramsAreExact) {
  const auto n = static_cast<unsigned>(GetParam().n);
  for (unsigned bytes = 1; bytes < n; ++bytes) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes a clock");
    Rig rig = this->rig(bytes);
    for_seeds(850, 6, [&](std::mt19937& random) {
      const auto program = random_program(random, rig.driver.geometry(), draw(random, 1, 5));
      EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, ProgramClocks, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

// Shuffled, a third of the programs stop for ever: a command waits in front of a full queue for
// what only a later one brings.
TEST(ShuffledPrograms, AreExactOrNeverEnd) {
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const int n : {2, 4, 8}) {
      SCOPED_TRACE(std::string(name(sharing)) + ", N = " + std::to_string(n));
      Rig rig = small_rig(n, sharing);
      unsigned ended = 0, stopped = 0;
      for_seeds(900 + static_cast<unsigned>(n), 40, [&](std::mt19937& random) {
        const auto program =
            random_order(random, random_program(random, rig.driver.geometry(), draw(random, 1, 4)));
        ++(expect_predicted(rig, program, random_latency(random)) ? ended : stopped);
      });
      EXPECT_GE(ended, 8u);
      EXPECT_GE(stopped, 8u);
    }
  }
}

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
// Programs that no job makes, of only products and with windows, take the cycles that the model
// predicts, with any memory that does not stall, and never end where it says so.

#include "tests/system/predicted.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

struct Kind {
  std::vector<Command> (*make)(std::mt19937& random, const Geometry& geometry, unsigned parts);
  unsigned seed, parts;
  // Shuffled, a third of the programs stop for ever: a command waits in front of a full queue for
  // what only a later one brings. Windows are merged: chunks before the blocks that make room for
  // them, MATMULs before what they wait for.
  std::vector<Command> (*disorder)(std::mt19937& random, std::vector<Command> program);
  unsigned some_parts;
};

const Kind kProducts{random_program, 800, 8, random_order, 4};
const Kind kWindows{random_window_program, 1300, 5,
                    [](std::mt19937& random, std::vector<Command> program) {
                      return random_merge(random, program);
                    },
                    2};

class ProgramCycles : public OnEverySetting {
 protected:
  static void expect_exact(const Kind& kind) {
    Rig rig = OnEverySetting::rig(0);
    for_seeds(kind.seed + static_cast<unsigned>(GetParam().n), 40, [&](std::mt19937& random) {
      const auto program = kind.make(random, rig.driver.geometry(), draw(random, 1, kind.parts));
      EXPECT_TRUE(expect_predicted(rig, program, random_latency(random))) << list(program);
    });
  }

  // Every number of bytes per cycle, those that do not divide a beat above all: a program begins as
  // if none had run before.
  static void expect_exact_throttled(const Kind& kind) {
    const auto n = static_cast<unsigned>(GetParam().n);
    for (unsigned bytes = 1; bytes < n; ++bytes) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes per cycle");
      Rig rig = OnEverySetting::rig(bytes);
      for_seeds(kind.seed + 50, 5, [&](std::mt19937& random) {
        const auto program =
            kind.make(random, rig.driver.geometry(), draw(random, 1, kind.parts - 2));
        EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
      });
    }
  }
};
class WindowCycles : public ProgramCycles {};

TEST_P(ProgramCycles, OfRandomProgramsAreExact) { expect_exact(kProducts); }
TEST_P(ProgramCycles, OfThrottledProgramsAreExact) { expect_exact_throttled(kProducts); }
TEST_P(WindowCycles, OfRandomProgramsAreExact) { expect_exact(kWindows); }
TEST_P(WindowCycles, OfThrottledProgramsAreExact) { expect_exact_throttled(kWindows); }

INSTANTIATE_TEST_SUITE_P(Settings, ProgramCycles, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Settings, WindowCycles, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

// A few of them, for those who run no more.
TEST(VectorCycles, AreExact) {
  for (const MemorySharing sharing : {MemorySharing::kIndependent, MemorySharing::kExclusive}) {
    Rig rig = small_rig(4, sharing);
    for_seeds(840, 30, [&](std::mt19937& random) {
      const auto program = random_program(random, rig.driver.geometry(), draw(random, 1, 4));
      EXPECT_TRUE(expect_predicted(rig, program, random_latency(random))) << list(program);
    });
  }
}

void expect_exact_or_stopped(const Kind& kind) {
  constexpr unsigned kSeeds = 40;
  const bool all = seeds_to_run(kSeeds) == kSeeds;
  unsigned some_ended = 0, some_stopped = 0;
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const int n : {2, 4, 8}) {
      SCOPED_TRACE(std::string(name(sharing)) + ", N = " + std::to_string(n));
      Rig rig = small_rig(n, sharing);
      unsigned ended = 0, stopped = 0;
      for_seeds(kind.seed + 100 + static_cast<unsigned>(n), kSeeds, [&](std::mt19937& random) {
        const auto program = kind.disorder(
            random, kind.make(random, rig.driver.geometry(), draw(random, 1, kind.some_parts)));
        ++(expect_predicted(rig, program, random_latency(random)) ? ended : stopped);
      });
      EXPECT_GE(ended, all ? at_least(8) : 0U);
      EXPECT_GE(stopped, all ? at_least(8) : 0U);
      some_ended += ended;
      some_stopped += stopped;
    }
  }
  EXPECT_GE(some_ended, at_least(seeds_to_run(kSeeds)));
  EXPECT_GE(some_stopped, at_least(seeds_to_run(kSeeds)));
}

TEST(ShuffledPrograms, AreExactOrNeverEnd) { expect_exact_or_stopped(kProducts); }
TEST(MergedWindows, AreExactOrRefusedOrNeverEnd) { expect_exact_or_stopped(kWindows); }

}  // namespace
}  // namespace gemm64::system_test

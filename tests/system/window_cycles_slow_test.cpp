// SPDX-License-Identifier: Apache-2.0
// Programs of windows and products at N = 64 take the cycles that the model predicts.

#include "tests/commands.hpp"
#include "tests/system/predicted.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

TEST(WindowCycles64, OfRandomProgramsAreExact) {
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const unsigned bytes_per_cycle : {0u, 24u}) {
      SCOPED_TRACE(std::string(name(sharing)) +
                   ", bytes per cycle: " + std::to_string(bytes_per_cycle));
      Rig rig = small_rig(64, sharing, bytes_per_cycle);
      for_seeds(1500, bytes_per_cycle == 0 ? 6 : 2, [&](std::mt19937& random) {
        const auto program =
            random_window_program(random, rig.driver.geometry(), draw(random, 1, 4));
        EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
      });
    }
  }
}

// After a MATMUL its cycle is hidden, since two commands are in the queue; with commands of many
// beats, after their fetch.
TEST(SetWindow, TakesACycleByItself) {
  Rig rig = small_rig(64);
  Command set;
  set.opcode = Opcode::kSetWindow;
  set.kernel_height = set.kernel_width = set.group_passes = set.capacity = 1;
  EXPECT_TRUE(expect_predicted(rig, {set, finish()}, 10));
  EXPECT_TRUE(expect_predicted(rig, {set, set, finish()}, 10));
}

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
// Programs that no plan makes take the clocks that the model predicts, and never end where it says
// so.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "host/cycles/cycle_model.hpp"
#include "host/error.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kClockLimit = 2'000'000;
constexpr std::uint32_t kWatchdog = 2000;  // clocks without progress; no engine waits for so long

Rig small_rig(int n) {
  RtlOptions options = Rig::options(n);
  options.memory_bytes = kMemoryBytes;
  return Rig(options);
}

/// Does the program end, as the model predicts, after the very clocks that it predicts?
bool expect_predicted(Rig& rig, const std::vector<Command>& program, std::uint32_t latency) {
  SCOPED_TRACE("latency " + std::to_string(latency) + "\n" + list(program));
  std::optional<Counters> expected;
  std::string refused;
  try {
    expected = predict_counters(program, rig.driver.geometry(), MemoryTiming{latency});
  } catch (const UsageError& error) {
    refused = error.what();
  }
  rig.device->set_latency(latency);
  rig.device->write_register(reg::kWatchdog, kWatchdog);
  if (!expected) {
    const std::string error =
        device_error([&] { rig.driver.run_program(0, program, kClockLimit); });
    EXPECT_NE(error.find(text(ErrorCode::kWatchdog)), std::string::npos) << error << "\n"
                                                                         << refused;
    EXPECT_NE(refused.find("never ends: command "), std::string::npos) << refused;
    return false;
  }
  rig.driver.run_program(0, program, kClockLimit);
  const Counters found = rig.driver.read_counters();
  EXPECT_TRUE(found == *expected) << difference(*expected, found);
  return true;
}

std::uint32_t random_latency(std::mt19937& random) {
  return draw(random, 0, 1) != 0 ? draw(random, 1, 12) : draw(random, 1, 300);
}

TEST(ProgramClocks, OfRandomProgramsAreExact) {
  for (const int n : {2, 4, 8}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    Rig rig = small_rig(n);
    for_seeds(800 + static_cast<unsigned>(n), 40, [&](std::mt19937& random) {
      const auto program = random_program(random, rig.driver.geometry(), draw(random, 1, 8));
      EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
    });
  }
}

// Shuffled, a third of the programs stop for ever: a command waits in front of a full queue for
// what only a later one brings.
TEST(ProgramClocks, OfProgramsInAnyOrderAreExactOrNeverEnd) {
  for (const int n : {2, 4, 8}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    Rig rig = small_rig(n);
    unsigned ended = 0, stopped = 0;
    for_seeds(900 + static_cast<unsigned>(n), 60, [&](std::mt19937& random) {
      const auto program =
          random_order(random, random_program(random, rig.driver.geometry(), draw(random, 1, 4)));
      ++(expect_predicted(rig, program, random_latency(random)) ? ended : stopped);
    });
    EXPECT_GE(ended, 10u);
    EXPECT_GE(stopped, 10u);
  }
}

}  // namespace
}  // namespace gemm64::system_test

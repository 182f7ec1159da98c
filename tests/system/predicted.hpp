// SPDX-License-Identifier: Apache-2.0
// Programs that no job makes, on an accelerator with little memory, compared with the model's
// prediction.
#pragma once

#include <ostream>

#include "host/cycles/cycle_model.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/snapshots.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {

inline constexpr std::uint64_t kClockLimit = 2'000'000;
inline constexpr std::uint32_t kWatchdog =
    20'000;  // cycles without progress; no engine waits for so long

inline Rig small_rig(int n, MemorySharing sharing = MemorySharing::kIndependent,
                     unsigned bytes_per_cycle = 0, bool tight = false) {
  RtlOptions options = Rig::options(n);
  options.memory_bytes = kMemoryBytes;
  options.memory.sharing = sharing;
  options.memory.bytes_per_cycle = bytes_per_cycle;
  options.tight = tight;
  return Rig(options);
}

/// An accelerator, and the memory at its ports.
struct Setting {
  int n;
  bool tight;
  MemorySharing sharing;
};

inline void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.tight ? "TightN" : "N") << setting.n << '_' << name(setting.sharing);
}

class OnEverySetting : public testing::TestWithParam<Setting> {
 protected:
  static Rig rig(unsigned bytes_per_cycle) {
    return small_rig(GetParam().n, GetParam().sharing, bytes_per_cycle, GetParam().tight);
  }
};

inline std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const int n : {2, 4, 8}) all.push_back({n, false, sharing});
    all.push_back({4, true, sharing});
  }
  return all;
}

/// Are all snapshots of a program in memory, as they were predicted?
inline void expect_snapshots(Rig& rig, const std::vector<Command>& program,
                             const std::vector<PredictedSnapshot>& predicted) {
  auto expected = predicted.begin();
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!is_snapshot(program[i])) continue;
    ASSERT_NE(expected, predicted.end());
    EXPECT_EQ(expected->command, i);
    const Counters found = read_snapshot(*rig.device, program[i].address());
    EXPECT_TRUE(found == expected->counters)
        << "snapshot of command " << i << difference(expected->counters, found);
    expect_causes_add_up(found);
    ++expected;
  }
  EXPECT_EQ(expected, predicted.end());
}

/// Does the program end, as the model predicts, after the very cycles that it predicts?
inline bool expect_predicted(Rig& rig, const std::vector<Command>& program, std::uint32_t latency) {
  SCOPED_TRACE("latency " + std::to_string(latency) + "\n" + list(program));
  rig.set_latency(latency);
  std::optional<Prediction> expected;
  std::string refused;
  try {
    expected = predict(program, rig.driver.geometry(), rig.memory);
  } catch (const UsageError& error) {
    refused = error.what();
  }
  rig.device->write_register(reg::kWatchdog, kWatchdog);
  if (!expected) {
    const std::string error =
        message_of<DeviceError>([&] { rig.driver.run_program(0, program, kClockLimit); });
    // A command that does not fit those before it is refused, where the program comes so far.
    const bool endless = refused.find("never ends: command ") != std::string::npos;
    const std::string command = refused.substr(0, refused.find('('));
    EXPECT_TRUE(error.find(text(ErrorCode::kWatchdog)) != std::string::npos ||
                (!endless && error.find(text(ErrorCode::kBadOperand)) != std::string::npos &&
                 error.find(command) != std::string::npos))
        << error << "\n"
        << refused;
    return false;
  }
  rig.driver.run_program(0, program, kClockLimit);
  const Counters found = rig.driver.read_counters();
  EXPECT_TRUE(found == expected->counters) << difference(expected->counters, found);
  expect_snapshots(rig, program, expected->snapshots);
  return true;
}

inline std::uint32_t random_latency(std::mt19937& random) {
  return draw(random, 0, 1) != 0 ? draw(random, 1, 12) : draw(random, 1, 300);
}

}  // namespace gemm64::system_test

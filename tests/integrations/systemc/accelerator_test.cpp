// SPDX-License-Identifier: Apache-2.0
// The accelerators in the platform against the same ones outside: the same memory, counters and
// cycles under the same memory.

#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "sim/integrations/systemc/platform.hpp"
#include "tests/commands.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kClockLimit = 2'000'000;

PlatformOptions options(const std::string& accelerator, int n, const MemoryTiming& memory = {},
                        std::uint64_t memory_bytes = kMemoryBytes) {
  PlatformOptions options;
  options.accelerator = accelerator;
  options.device.array = n;
  options.device.memory = memory;
  options.memory_bytes = memory_bytes;
  return options;
}

std::unique_ptr<Device> outside(const PlatformOptions& options) {
  if (options.accelerator == "rtl") {
    RtlOptions rtl;
    rtl.n = options.device.array;
    rtl.memory = options.device.memory;
    rtl.seed = options.device.seed;
    rtl.memory_bytes = options.memory_bytes;
    return make_rtl_device(rtl);
  }
  const Geometry geometry = geometry_of_array(options.device.array);
  return std::make_unique<TlmDevice>(geometry, options.device.memory, options.memory_bytes);
}

struct Outcome {
  std::uint64_t cycles = 0;
  Counters counters{};
  std::vector<std::uint8_t> memory;
};

Outcome run(Device& device, const std::vector<std::uint8_t>& operands,
            const std::vector<std::vector<Command>>& programs) {
  Driver driver(device, Timeouts{0});
  device.write_memory(kOperands, operands.data(), operands.size());
  Outcome run;
  for (const std::vector<Command>& program : programs) {
    const std::uint64_t before = device.cycles();
    driver.run_program(0, program, kClockLimit);
    run.cycles += device.cycles() - before;
    const Counters counters = driver.read_counters();
    for (std::size_t i = 0; i < counters.size(); ++i) run.counters[i] += counters[i];
  }
  run.memory = image(device);
  return run;
}

class InThePlatform : public testing::TestWithParam<const char*> {};

TEST_P(InThePlatform, EqualsDeviceOutside) {
  for_seeds(3000, 40, [&](std::mt19937& random) {
    const int n = 2 << draw(random, 0, 2);
    MemoryTiming memory = random_memory(random, n);
    if (draw(random, 0, 3) == 0) memory.stall_probability = 0.2;
    PlatformOptions platform_options = options(GetParam(), n, memory);
    platform_options.lookahead = draw(random, 0, 1) == 0 ? draw(random, 1, 20) : 1000;
    Platform platform(platform_options);
    const std::unique_ptr<Device> single = outside(platform_options);
    const Geometry geometry = read_geometry(*single);
    const std::vector<std::uint8_t> operands = operand_memory(random, geometry.n);
    std::vector<std::vector<Command>> programs;
    for (unsigned i = draw(random, 1, 3); i != 0; --i) {
      programs.push_back(random_program(random, geometry, draw(random, 1, 2)));
    }
    const Outcome expected = run(*single, operands, programs);
    const Outcome found = run(platform.device(), operands, programs);
    // Cycles that are not simulated draw no stalls; and snapshots hold cycles.
    const bool snapshots = std::any_of(programs.begin(), programs.end(), [](const auto& program) {
      return std::any_of(program.begin(), program.end(),
                         [](const Command& command) { return is_snapshot(command); });
    });
    if (memory.predictable() || !snapshots) EXPECT_TRUE(found.memory == expected.memory);
    if (!memory.predictable()) return;
    EXPECT_EQ(found.cycles, expected.cycles);
    EXPECT_TRUE(found.counters == expected.counters)
        << difference(expected.counters, found.counters);
  });
}

TEST_P(InThePlatform, UnmappedAddressIsBusError) {
  Platform platform(options(GetParam(), 4));
  Driver driver(platform.device(), Timeouts{0});
  const std::vector<Command> program{load_weights(0x90000000u, 4), finish()};
  EXPECT_THAT([&] { driver.run_program(0, program, kClockLimit); },
              Fails<DeviceError>("BUS_DECODE"));
}

TEST_P(InThePlatform, RefusedRegisterIsDeviceError) {
  Platform platform(options(GetParam(), 4));
  EXPECT_THAT(message_of<DeviceError>([&] { platform.device().write_register(0xffc, 0); }),
              Says("GENERIC_ERROR"));
  EXPECT_EQ(platform.device().read_register(reg::kId), 0x67363463u);
}

INSTANTIATE_TEST_SUITE_P(Accelerators, InThePlatform, testing::Values("rtl", "tlm"),
                         [](const auto& info) { return std::string(info.param); });

// What the ports inject, and the transactors carry on.
TEST(RtlInThePlatform, FailedBurstIsSameError) {
  for (const bool write : {false, true}) {
    Rig rig(4);
    Platform platform(options("rtl", 4));
    Driver driver(platform.device(), Timeouts{0});
    const auto fail = [&](RtlDevice& device) {
      if (write) {
        device.ports().results.fail_burst(0);
      } else {
        device.ports().weights.fail_burst(1);
      }
    };
    fail(*rig.device);
    fail(*platform.rtl());
    std::mt19937 random(1);
    const std::vector<Command> program = random_program(random, rig.driver.geometry(), 2);
    std::string expected =
        message_of<DeviceError>([&] { rig.driver.run_program(0, program, kClockLimit); });
    EXPECT_THAT(expected, Says("BUS"));
    EXPECT_EQ(message_of<DeviceError>([&] { driver.run_program(0, program, kClockLimit); }),
              expected);
  }
}

TEST(RtlInThePlatform, HangEndsByHardReset) {
  Platform platform(options("rtl", 4));
  platform.rtl()->ports().weights.hang_after(0);
  Driver driver(platform.device(), Timeouts{0, 2000});
  std::mt19937 random(2);
  const std::vector<Command> program = random_program(random, driver.geometry(), 1);
  EXPECT_THAT(message_of<DeviceError>([&] { driver.run_program(0, program, kClockLimit); }),
              Says("WATCHDOG"));
  platform.device().reset();
  driver.run_program(0, program, kClockLimit);
}

TEST(PlatformOptions, WhatCannotBeIsRefused) {
  EXPECT_THROW(Platform(options("reference", 4)), UsageError);
  EXPECT_THROW(Platform(options("rtl", 5)), UsageError);
  EXPECT_THROW(Platform(options("tlm", 5)), UsageError);
  EXPECT_THROW(Platform(options("rtl", 4, {}, 0)), UsageError);
  EXPECT_THROW(Platform(options("rtl", 4, {}, 5000)), UsageError);
}

}  // namespace
}  // namespace gemm64::system_test

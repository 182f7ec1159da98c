// SPDX-License-Identifier: Apache-2.0
// Programs that no plan makes: the RTL and the reference device, an independent reading of the
// command table, leave the same memory and move the same bytes.

#include "host/device/reference_device.hpp"
#include "tests/system/random_depthwise.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kClockLimit = 2'000'000;

/// Apart from snapshots, since the reference counts no cycles.
void expect_same_memory(Device& found, Device& expected) {
  std::vector<std::uint8_t> bytes(kMemoryBytes), wanted(kMemoryBytes);
  found.read_memory(0, bytes.data(), bytes.size());
  expected.read_memory(0, wanted.data(), wanted.size());
  for (std::vector<std::uint8_t>* memory : {&bytes, &wanted}) {
    std::fill(memory->begin() + kSnapshots, memory->begin() + kResults, 0);
  }
  const auto at = std::mismatch(bytes.begin(), bytes.end(), wanted.begin()).first;
  EXPECT_TRUE(at == bytes.end()) << "at address " << at - bytes.begin();
}

using MakeProgram = std::vector<Command> (*)(std::mt19937&, const Geometry&, unsigned);

void expect_same_programs(int n, double stall_probability, unsigned first_seed, unsigned seeds,
                          MakeProgram make, bool self_check = false) {
  RtlOptions options = Rig::options(n, stall_probability, first_seed);
  options.self_check = self_check;
  options.memory_bytes = kMemoryBytes;
  Rig rtl(options);
  ReferenceDevice reference(rtl.driver.geometry(), kMemoryBytes);
  Driver reference_driver(reference);
  for_seeds(first_seed, seeds, [&](std::mt19937& random) {
    const std::vector<std::uint8_t> nothing(kMemoryBytes);
    const std::vector<std::uint8_t> operands = operand_memory(random, rtl.driver.geometry().n);
    for (Device* device :
         {static_cast<Device*>(rtl.device.get()), static_cast<Device*>(&reference)}) {
      device->write_memory(0, nothing.data(), nothing.size());
      device->write_memory(kOperands, operands.data(), operands.size());
    }
    rtl.device->set_latency(draw(random, 1, 200));
    const std::vector<Command> program = make(random, rtl.driver.geometry(), draw(random, 1, 4));
    SCOPED_TRACE(list(program));
    rtl.driver.run_program(0, program, kClockLimit);
    reference_driver.run_program(0, program, kClockLimit);
    expect_same_memory(*rtl.device, reference);
    const Counters found = rtl.driver.read_counters();
    const Counters expected = reference_driver.read_counters();
    for (const std::size_t i :
         {counter::kBytesWeights, counter::kBytesActivations, counter::kBytesCommands,
          counter::kBytesResults, counter::kBytesParameters, counter::kBytesOperands}) {
      EXPECT_EQ(found[i], expected[i]) << "bytes of " << kCounters[i].cause;
    }
    expect_causes_add_up(found);
  });
}

TEST(Programs, RandomOnesDoAsTheReference) {
  expect_same_programs(2, 0, 600, 25, random_program);
  expect_same_programs(4, 0, 630, 25, random_program);
  expect_same_programs(8, 0, 660, 25, random_program);
}

TEST(Programs, RandomOnesDoTheSameUnderStalls) {
  expect_same_programs(2, 0.4, 700, 15, random_program);
  expect_same_programs(8, 0.4, 720, 15, random_program);
}

// A few of them, for those who run no more: a third has STOREs through the vector path.
TEST(VectorPrograms, DoAsTheReference) {
  expect_same_programs(2, 0, 830, 6, random_program);
  expect_same_programs(4, 0, 860, 14, random_program);
  expect_same_programs(4, 0.4, 910, 6, random_program);
  expect_same_programs(4, 0, 920, 8, random_vector_program);
}

// With N = STAGE_ROWS the array's first sum may come to its bank in the cycle in which the last of
// the depthwise unit comes to the other.
TEST(SelfCheckPrograms, RaiseNoFalseAlarmInTurns) {
  expect_same_programs(4, 0, 1000, 100, random_turns, true);
  expect_same_programs(4, 0.3, 1200, 20, random_turns, true);
  expect_same_programs(8, 0, 1300, 20, random_turns, true);
}

TEST(SelfCheckPrograms, RaiseNoFalseAlarm) {
  expect_same_programs(4, 0, 1400, 12, random_depthwise_program, true);
  expect_same_programs(4, 0.3, 1420, 6, random_program, true);
  expect_same_programs(4, 0, 1440, 8, random_window_program, true);
  expect_same_programs(8, 0, 1460, 4, random_depthwise_program, true);
}

TEST(Programs, RandomWindowsDoAsTheReference) {
  expect_same_programs(2, 0, 740, 10, random_window_program);
  expect_same_programs(4, 0, 770, 10, random_window_program);
  expect_same_programs(8, 0.4, 800, 6, random_window_program);
}

}  // namespace
}  // namespace gemm64::system_test

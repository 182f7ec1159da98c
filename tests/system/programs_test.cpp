// SPDX-License-Identifier: Apache-2.0
// Programs that no plan makes: the RTL and the reference device, an independent reading of the
// command table, leave the same memory and move the same bytes.

#include "host/device/reference_device.hpp"
#include "tests/system/random_depthwise.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/random_tensor.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kClockLimit = 2'000'000;

/// All bytes of memory but those of snapshots, since the reference counts no cycles.
std::vector<std::uint8_t> memory_without_snapshots(Device& device) {
  std::vector<std::uint8_t> bytes = image(device);
  std::fill(bytes.begin() + kSnapshots, bytes.begin() + kResults, 0);
  return bytes;
}

enum class With { kNothing, kSelfCheck, kTensorMemory, kBoth, kSumsThatWrap };

void expect_same_programs(int n, double stall_probability, unsigned first_seed, unsigned seeds,
                          MakeProgram make, With with = With::kNothing) {
  RtlOptions options = Rig::options(n, stall_probability, first_seed);
  options.self_check = with == With::kSelfCheck || with == With::kBoth;
  options.memory_bytes = kMemoryBytes;
  Rig rtl(options);
  ReferenceDevice reference(rtl.driver.geometry(), kMemoryBytes);
  Driver reference_driver(reference);
  if (with == With::kTensorMemory || with == With::kBoth) {
    rtl.driver.enable_tensor_memory();
    reference_driver.enable_tensor_memory();
  }
  for_seeds(first_seed, seeds, [&](std::mt19937& random) {
    const std::vector<std::uint8_t> nothing(kMemoryBytes);
    std::vector<std::uint8_t> operands = operand_memory(random, rtl.driver.geometry().n);
    if (with == With::kSumsThatWrap && draw(random, 0, 4) == 0) {
      std::fill(operands.begin(), operands.end(), std::uint8_t{0x80});
    }
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
    const std::vector<std::uint8_t> bytes = memory_without_snapshots(*rtl.device);
    const std::vector<std::uint8_t> wanted = memory_without_snapshots(reference);
    const auto at = std::mismatch(bytes.begin(), bytes.end(), wanted.begin()).first;
    EXPECT_TRUE(at == bytes.end()) << "at address " << at - bytes.begin();
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

// A few of them, for those who run no more: a third has STOREs through the element-wise unit.
TEST(VectorPrograms, DoAsTheReference) {
  expect_same_programs(2, 0, 830, 6, random_program);
  expect_same_programs(4, 0, 860, 14, random_program);
  expect_same_programs(4, 0.4, 910, 6, random_program);
  expect_same_programs(4, 0, 920, 8, random_vector_program);
}

// With N = STAGE_ROWS the array's first sum may come to its bank in the cycle in which the last of
// the depthwise unit comes to the other.
TEST(SelfCheckPrograms, RaiseNoFalseAlarmInTurns) {
  expect_same_programs(4, 0, 1000, 100, random_turns, With::kSelfCheck);
  expect_same_programs(4, 0.3, 1200, 20, random_turns, With::kSelfCheck);
  expect_same_programs(8, 0, 1300, 20, random_turns, With::kSelfCheck);
}

TEST(SelfCheckPrograms, RaiseNoFalseAlarm) {
  expect_same_programs(4, 0, 1400, 12, random_depthwise_program, With::kSelfCheck);
  expect_same_programs(4, 0.3, 1420, 6, random_program, With::kSelfCheck);
  expect_same_programs(4, 0, 1440, 8, random_window_program, With::kSelfCheck);
  expect_same_programs(8, 0, 1460, 4, random_depthwise_program, With::kSelfCheck);
}

TEST(Programs, RandomWindowsDoAsTheReference) {
  expect_same_programs(2, 0, 740, 10, random_window_program);
  expect_same_programs(4, 0, 770, 10, random_window_program);
  expect_same_programs(8, 0.4, 800, 6, random_window_program);
}

TEST(DepthwiseBytes, AreThoseOfTheReference) {
  expect_same_programs(2, 0, 2000, 20, random_depthwise_program, With::kSumsThatWrap);
  expect_same_programs(4, 0, 2050, 20, random_depthwise_program, With::kSumsThatWrap);
  expect_same_programs(8, 0, 2100, 15, random_depthwise_program, With::kSumsThatWrap);
}

TEST(DepthwiseBytes, AreThoseOfReferenceUnderStalls) {
  expect_same_programs(4, 0.4, 2150, 12, random_depthwise_program, With::kSumsThatWrap);
  expect_same_programs(8, 0.4, 2200, 10, random_depthwise_program, With::kSumsThatWrap);
}

TEST(TensorMemory, ResultsAreTheReferences) {
  for (const MakeProgram make : kThroughTensorMemory) {
    expect_same_programs(2, 0, 1600, 4, make, With::kTensorMemory);
    expect_same_programs(4, 0.4, 1620, 4, make, With::kTensorMemory);
    expect_same_programs(8, 0, 1640, 4, make, With::kTensorMemory);
    expect_same_programs(4, 0, 1660, 4, make, With::kBoth);
  }
}

}  // namespace
}  // namespace gemm64::system_test

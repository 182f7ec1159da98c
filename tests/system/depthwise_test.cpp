// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions and pools between products, in random programs: the RTL gives the
// reference device's bytes, in the very cycles that the model predicts.

#include "host/device/reference_device.hpp"
#include "tests/system/predicted.hpp"
#include "tests/system/random_depthwise.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

class Depthwise : public OnEverySetting {};

TEST_P(Depthwise, CyclesOfRandomProgramsAreExact) {
  Rig rig = OnEverySetting::rig(0);
  for_seeds(1900, 25, [&](std::mt19937& random) {
    const auto program =
        random_depthwise_program(random, rig.driver.geometry(), draw(random, 1, 4));
    EXPECT_TRUE(expect_predicted(rig, program, random_latency(random))) << list(program);
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, Depthwise, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

void expect_reference(int n, double stalls, unsigned first_seed, unsigned seeds) {
  RtlOptions options = Rig::options(n, stalls, first_seed);
  options.memory_bytes = kMemoryBytes;
  Rig rtl(options);
  ReferenceDevice reference(rtl.driver.geometry(), kMemoryBytes);
  Driver reference_driver(reference);
  for_seeds(first_seed, seeds, [&](std::mt19937& random) {
    const std::vector<std::uint8_t> nothing(kMemoryBytes);
    std::vector<std::uint8_t> operands = operand_memory(random, rtl.driver.geometry().n);
    if (draw(random, 0, 4) == 0) {  // sums that wrap
      std::fill(operands.begin(), operands.end(), std::uint8_t{0x80});
    }
    for (Device* device :
         {static_cast<Device*>(rtl.device.get()), static_cast<Device*>(&reference)}) {
      device->write_memory(0, nothing.data(), nothing.size());
      device->write_memory(kOperands, operands.data(), operands.size());
    }
    rtl.device->set_latency(draw(random, 1, 200));
    const auto program =
        random_depthwise_program(random, rtl.driver.geometry(), draw(random, 1, 4));
    SCOPED_TRACE(list(program));
    rtl.driver.run_program(0, program, kClockLimit);
    reference_driver.run_program(0, program, kClockLimit);
    std::vector<std::uint8_t> found = image(*rtl.device), expected = image(reference);
    for (auto* memory : {&found, &expected}) {
      std::fill(memory->begin() + kSnapshots, memory->begin() + kResults, 0);
    }
    const auto at = std::mismatch(found.begin(), found.end(), expected.begin()).first;
    EXPECT_TRUE(at == found.end()) << "at address " << at - found.begin();
    expect_causes_add_up(rtl.driver.read_counters());
  });
}

TEST(DepthwiseBytes, AreThoseOfTheReference) {
  expect_reference(2, 0, 2000, 20);
  expect_reference(4, 0, 2050, 20);
  expect_reference(8, 0, 2100, 15);
}
TEST(DepthwiseBytes, AreThoseOfReferenceUnderStalls) {
  expect_reference(4, 0.4, 2150, 12);
  expect_reference(8, 0.4, 2200, 10);
}

}  // namespace
}  // namespace gemm64::system_test

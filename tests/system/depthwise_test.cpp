// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions and pools between products, in random programs: the RTL takes the very
// cycles that the model predicts.

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

}  // namespace
}  // namespace gemm64::system_test

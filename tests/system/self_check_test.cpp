// SPDX-License-Identifier: Apache-2.0
// Accelerators that find faults of their own array: what they find, what that costs, and what
// becomes of it.
#include <gtest/gtest.h>

#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

RtlOptions self_checking(int n, double stalls = 0) {
  RtlOptions options = Rig::options(n, stalls);
  options.self_check = true;
  return options;
}

class SelfCheck : public testing::TestWithParam<int> {};

TEST_P(SelfCheck, TellsThatItIsBuilt) {
  Rig rig(self_checking(GetParam()));
  EXPECT_EQ(rig.device->read_register(reg::kSelfCheck),
            field::kSelfCheckChecksum.mask() | field::kSelfCheckParity.mask() |
                field::kSelfCheckCommands.mask() | field::kSelfCheckRows.mask());
}

TEST_P(SelfCheck, CostsNoClockAndFindsNothingWhereNothingIsWrong) {
  Rig rig(self_checking(GetParam()));
  for_seeds(1, 25, [&](std::mt19937& random) {
    expect_exact(rig, random_workload(random, static_cast<unsigned>(GetParam()), 70), random);
  });
}

TEST_P(SelfCheck, FindsNothingBehindMemoriesThatStall) {
  Rig rig(self_checking(GetParam(), 0.3));
  for_seeds(1, 10, [&](std::mt19937& random) {
    const Workload work = random_workload(random, static_cast<unsigned>(GetParam()), 50);
    expect_values(rig, work, random_operands(random, work.shape));
  });
}

TEST_P(SelfCheck, FindsNothingAfterAResetInTheMiddleOfATile) {
  Rig rig(self_checking(GetParam()));
  std::mt19937 random(7);
  const Workload work{{40, 33, 29}};
  const Job job = make_job(rig, work);
  for (unsigned clocks = 100; clocks < 400; clocks += 7) {
    rig.driver.start_program(job.layout.ring, job.program);
    rig.device->run(clocks);
    expect_exact(rig, work, random);  // which begins with a soft reset
  }
}

INSTANTIATE_TEST_SUITE_P(Arrays, SelfCheck, testing::Values(4, 8),
                         [](const auto& test) { return "N" + std::to_string(test.param); });

}  // namespace
}  // namespace gemm64::system_test

// SPDX-License-Identifier: Apache-2.0
#include "host/check/clock_check.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(ClockCheck, RefusesCycleAfterEnd) {
  const Geometry geometry;
  const std::vector<Job> jobs{make_job("fc", {64, 640, 640}, Accumulate::kDevice, geometry)};
  for (const std::uint64_t clock : {0u, 6000u, 11000u}) {
    ClockCheck check(geometry, MemoryTiming());
    check.need("--inject x", clock);
    EXPECT_NO_THROW(check.announce(jobs)) << clock;
  }
  ClockCheck check(geometry, MemoryTiming());
  check.need("--inject x", 20000);
  EXPECT_THROW(check.announce(jobs), UsageError);
}

TEST(ClockCheck, LeavesThrottledMemoryOpen) {
  MemoryTiming memory;
  memory.stall_probability = 0.5;
  ClockCheck check(Geometry(), memory);
  check.need("--inject x", 1'000'000'000);
  EXPECT_NO_THROW(check.announce({make_job("fc", {64, 64, 64}, Accumulate::kDevice, Geometry())}));
}

}  // namespace
}  // namespace gemm64

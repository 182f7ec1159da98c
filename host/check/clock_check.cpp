// SPDX-License-Identifier: Apache-2.0
#include "host/check/clock_check.hpp"

#include <fmt/format.h>

#include "host/cycles/cycle_model.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// Register accesses and resets around a job, and those that watch its progress.
constexpr std::uint64_t kAroundJob = 5000;
constexpr std::uint64_t kPartForProgress = 50;

}  // namespace

void ClockCheck::announce(const std::vector<Job>& jobs) {
  if (needs_.empty() || !memory_.predictable()) return;
  std::uint64_t last = 0;
  std::uint64_t all = 0;
  for (const Job& job : jobs) {
    const Counters predicted = predict_counters(job.program, geometry_, memory_, {job.layout.ring});
    const std::uint64_t cycles = predicted[counter::kTotalClocks];
    all += cycles;
    last += cycles + cycles / kPartForProgress + kAroundJob;
  }
  for (const auto& [what, clock] : needs_) {
    if (clock < last) continue;
    throw UsageError(
        fmt::format("{}: cycle {} is after the end of the run, which is predicted to take {}", what,
                    clock, counted(all, "cycle")));
  }
}

}  // namespace gemm64

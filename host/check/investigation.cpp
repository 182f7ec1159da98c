// SPDX-License-Identifier: Apache-2.0
#include "host/check/investigation.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/check/element_watch.hpp"
#include "host/check/hang_watch.hpp"
#include "host/check/lane_watch.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

// A window reaches from the tile before the one that went wrong to some cycles after the wrong
// value; where these are further apart than a person wants to scroll, only around the wrong value.
constexpr std::uint64_t kLongestWindow = 2000;
constexpr std::uint64_t kBefore = 300;
constexpr std::uint64_t kAfter = 40;

/// Ends a simulation that has shown what was to be seen.
struct Enough {};

class StopAt : public Observer {
 public:
  explicit StopAt(std::uint64_t clock) : clock_(clock) {}
  void clock(std::uint64_t clock, const Probe&) override {
    if (clock >= clock_) throw Enough{};
  }

 private:
  const std::uint64_t clock_;
};

/// The failed product on a device of its own.
class Rerun {
 public:
  Rerun(const JobRun& run, std::unique_ptr<DebugDevice> device, const Timeouts& timeouts)
      : run_(run), device_(std::move(device)), driver_(*device_, timeouts) {}

  DebugDevice& device() { return *device_; }
  const Geometry& geometry() const { return driver_.geometry(); }

  /// Runs it from its first cycle, shown to `observer`; nothing where the device fails.
  std::optional<MatrixI32> run(std::uint64_t first_clock, Observer& observer) {
    device_->reset_at(first_clock);
    device_->observe(observer);
    try {
      if (run_.list != nullptr) return driver_.run(*run_.list, *run_.operands)[run_.place].sums;
      return driver_.run(run_.job, JobOperands{run_.packed, run_.a, run_.parameters}).sums;
    } catch (const DeviceError&) {
      return std::nullopt;
    }
  }

 private:
  const JobRun& run_;
  std::unique_ptr<DebugDevice> device_;
  Driver driver_;
};

Finding look(const JobRun& run, const MakeDebugDevice& make, const Timeouts& timeouts,
             const Failure& failure) {
  Rerun again(run, make(false), timeouts);
  if (!failure.error.empty()) {
    HangWatch watch(run.job, again.geometry(), timeouts.memory_latency, timeouts.watchdog,
                    run.list);
    return again.run(failure.first_clock, watch) ? Finding() : watch.finding();
  }
  const Mismatches& first = failure.mismatches;
  const auto row = static_cast<std::uint64_t>(first.first_row);
  const auto column = static_cast<std::uint64_t>(first.first_column);
  const auto found = [&](auto watch) {
    const std::optional<MatrixI32> sums = again.run(failure.first_clock, watch);
    if (!sums || (*sums)(first.first_row, first.first_column) == first.expected) return Finding();
    Finding finding = watch.finding();
    if (finding.place == Finding::Place::kNone) {
      finding.place = Finding::Place::kAbsent;
      finding.clock = finding.wrong_clock = again.device().cycles();
    }
    return finding;
  };
  if (run.job.plan.lanes) return found(LaneWatch(run.job, row, column, run.list, run.place));
  return found(
      ElementWatch(run.job, again.geometry(), run.a, run.w, row, column, run.list, run.place));
}

}  // namespace

void investigate(const JobRun& run, const MakeDebugDevice& make, const Timeouts& timeouts,
                 Failure& failure) {
  if (!failure.counter.empty()) return;
  failure.finding = look(run, make, timeouts, failure);
  const Finding& finding = failure.finding;
  if (finding.place == Finding::Place::kNone) return;

  failure.trace_end = std::max(finding.clock, finding.wrong_clock) + kAfter;
  failure.trace_begin = std::max(finding.before_begin, failure.first_clock);
  if (failure.trace_end - failure.trace_begin > kLongestWindow) {
    failure.trace_begin =
        std::max(finding.wrong_clock - std::min(finding.wrong_clock, kBefore), failure.first_clock);
  }
  Rerun traced(run, make(true), timeouts);
  traced.device().trace(failure.trace_begin, failure.trace_end);
  StopAt stop(failure.trace_end);
  try {
    traced.run(failure.first_clock, stop);
  } catch (const Enough&) {
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/debug/investigation.hpp"

#include <algorithm>

#include "host/debug/element_watch.hpp"
#include "host/debug/standstill_watch.hpp"
#include "host/driver/driver.hpp"
#include "host/error.hpp"

namespace gemm64 {
namespace {

// A window reaches from the tile before the one that went wrong to some clocks after the wrong
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

/// Runs the product from its first clock; true where it came to its end.
bool run(const ProductRun& product, DebugDevice& device, std::uint64_t first_clock,
         Observer& observer, MatrixI32& sums) {
  Driver driver(device);
  device.reset_at(first_clock);
  device.observe(observer);
  try {
    sums = driver.run(product.plan, product.packed, product.a).sums;
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

void look(const ProductRun& product, const MakeDebugDevice& make, Failure& failure) {
  const std::unique_ptr<DebugDevice> device = make(false);
  const Geometry geometry = read_geometry(*device);
  MatrixI32 sums;
  if (!failure.error.empty()) {
    StandstillWatch watch(product.plan, geometry);
    if (!run(product, *device, failure.first_clock, watch, sums)) {
      failure.finding = watch.finding();
    }
    return;
  }
  const Mismatches& first = failure.mismatches;
  ElementWatch watch(product.plan, geometry, product.a, product.w,
                     static_cast<std::uint64_t>(first.first_row),
                     static_cast<std::uint64_t>(first.first_column));
  if (run(product, *device, failure.first_clock, watch, sums) &&
      sums(first.first_row, first.first_column) != first.expected) {
    failure.finding = watch.finding();
  }
}

}  // namespace

void investigate(const ProductRun& product, const MakeDebugDevice& make, Failure& failure) {
  look(product, make, failure);
  const Finding& finding = failure.finding;
  if (finding.place == Finding::Place::kNone) return;

  failure.trace_end = std::max(finding.clock, finding.wrong_clock) + kAfter;
  failure.trace_begin = std::max(finding.before_begin, failure.first_clock);
  if (failure.trace_end - failure.trace_begin > kLongestWindow) {
    failure.trace_begin =
        std::max(finding.wrong_clock - std::min(finding.wrong_clock, kBefore), failure.first_clock);
  }
  const std::unique_ptr<DebugDevice> device = make(true);
  device->trace(failure.trace_begin, failure.trace_end);
  StopAt stop(failure.trace_end);
  MatrixI32 sums;
  try {
    run(product, *device, failure.first_clock, stop, sums);
  } catch (const Enough&) {
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Refuses cycles that a run cannot reach, before it begins.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/check/job_observer.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"

namespace gemm64 {

/// Knows from the prediction how long the announced jobs can take at most, where the memory is
/// unthrottled.
class ClockCheck : public JobObserver {
 public:
  ClockCheck() = default;
  ClockCheck(const Geometry& geometry, const MemoryTiming& memory)
      : geometry_(geometry), memory_(memory) {}

  /// `what`, an option with its value, asks for `clock`.
  void need(std::string what, std::uint64_t clock) { needs_.push_back({std::move(what), clock}); }

  /// Throws UsageError if a cycle that is needed comes after the end of all jobs.
  void announce(const std::vector<Job>& jobs) override;
  using JobObserver::begin;
  void begin(const Job&, std::uint64_t) override {}
  void clock(std::uint64_t, const Probe&) override {}
  void end(std::uint64_t) override {}

 private:
  Geometry geometry_;
  MemoryTiming memory_;
  std::vector<std::pair<std::string, std::uint64_t>> needs_;
};

}  // namespace gemm64

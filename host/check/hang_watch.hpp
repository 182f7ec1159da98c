// SPDX-License-Identifier: Apache-2.0
// Finds the cycle in which an accelerator did something for the last time.
#pragma once

#include <cstdint>

#include "host/check/finding.hpp"
#include "host/device/debug_device.hpp"
#include "host/device/geometry.hpp"
#include "host/tiling/program_walk.hpp"

namespace gemm64 {

/// Observes a job, or a program, from reset that does not end, and finds the longest time without a
/// command dispatched, a word moved or a row entered: the last cycle before it, the tile in
/// progress then, and what each engine waits for in it. (After it the watchdog's reset may move
/// what was held back.)
class HangWatch : public Observer {
 public:
  /// `memory_latency`: cycles in which nothing may move though nothing is wrong; `watchdog`: cycles
  /// after which the accelerator ends a hang, 0 for its own.
  /// `list`: the program that the job runs in; nullptr: it runs by itself.
  HangWatch(const Job& job, const Geometry& geometry, std::uint64_t memory_latency,
            std::uint32_t watchdog = 0, const JobProgram* list = nullptr)
      : geometry_(geometry),
        hang_(watchdog == 0 ? kShortest + 2 * memory_latency : watchdog),
        walk_(list != nullptr ? ProgramWalk(*list) : ProgramWalk(job)) {}

  void clock(std::uint64_t clock, const Probe& probe) override;

  /// kStandstill, or where it never stood still for long kStopped, with the last cycle of all.
  Finding finding() const;

 private:
  // The watchdog waits for many times as long.
  static constexpr std::uint64_t kShortest = 10000;

  const Geometry geometry_;
  const std::uint64_t hang_;  // cycles without a move that are one
  ProgramWalk walk_;
  std::uint64_t clock_ = 0;    // observed last
  std::uint64_t longest_ = 0;  // time without a move that came to an end
  Finding now_;
  Finding before_longest_;
};

}  // namespace gemm64

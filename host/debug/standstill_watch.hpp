// SPDX-License-Identifier: Apache-2.0
// Finds the clock in which an accelerator did something for the last time.
#pragma once

#include <cstdint>

#include "host/debug/debug_device.hpp"
#include "host/debug/finding.hpp"
#include "host/debug/tile_walk.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// Observes one product from reset that does not end, and finds the longest time without a command
/// dispatched, a word moved or a row entered: the last clock before it, the tile under way then,
/// and what each engine waits for in it. (After it the watchdog's reset may move what was held
/// back.) The plan outlives it.
class StandstillWatch : public Observer {
 public:
  StandstillWatch(const Plan& plan, const Geometry& geometry) : geometry_(geometry), walk_(plan) {}

  void clock(std::uint64_t clock, const Probe& probe) override;

  /// kStandstill, or where it never stood still for long kStopped, with the last clock of all.
  Finding finding() const;

 private:
  const Geometry geometry_;
  TileWalk walk_;
  std::uint64_t clock_ = 0;    // observed last
  std::uint64_t longest_ = 0;  // time without a move that came to an end
  Finding now_;
  Finding before_longest_;
};

}  // namespace gemm64

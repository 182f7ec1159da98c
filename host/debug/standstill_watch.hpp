// SPDX-License-Identifier: Apache-2.0
// Finds the clock in which an accelerator did something for the last time.
#pragma once

#include <cstdint>

#include "host/debug/debug_device.hpp"
#include "host/debug/finding.hpp"
#include "host/debug/tile_walk.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// Observes one product from reset that does not end: the last clock in which a command was
/// dispatched, a word moved or a row entered, the tile under way then, and what each engine waits
/// for afterwards. The plan outlives it.
class StandstillWatch : public Observer {
 public:
  StandstillWatch(const Plan& plan, const Geometry& geometry) : geometry_(geometry), walk_(plan) {}

  void clock(std::uint64_t clock, const Probe& probe) override;

  Finding finding() const { return finding_; }

 private:
  const Geometry geometry_;
  TileWalk walk_;
  Finding finding_;
};

}  // namespace gemm64

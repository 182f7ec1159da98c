// SPDX-License-Identifier: Apache-2.0
// What an engine's clocks were spent on.
#pragma once

#include <cstddef>

#include "host/cycles/clock.hpp"
#include "host/cycles/rate.hpp"
#include "host/device/counters.hpp"

namespace gemm64::cycles {

/// Accounts for every clock of one engine, from 0 on, in order. So its causes add up to all.
class Ledger {
 public:
  explicit Ledger(Counters& counters) : counters_(counters) {}

  /// The clocks before `until` that are not accounted for were spent on `cause`, an index of
  /// kCounters.
  void spend(std::size_t cause, Clock until) {
    if (until <= next_) return;
    counters_[cause] += static_cast<std::uint64_t>(until - next_);
    next_ = until;
  }

  /// As spend(), up to the last of `beats`: the clocks with a beat on `transfer`, those before and
  /// between them on `waiting`.
  void spend(std::size_t transfer, std::size_t waiting, const Beats& beats) {
    spend(waiting, beats.first);
    counters_[transfer] += static_cast<std::uint64_t>(beats.count);
    counters_[waiting] += static_cast<std::uint64_t>(beats.last + 1 - beats.first - beats.count);
    next_ = beats.last + 1;
  }

 private:
  Counters& counters_;
  Clock next_ = 0;
};

}  // namespace gemm64::cycles

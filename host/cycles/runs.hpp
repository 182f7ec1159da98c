// SPDX-License-Identifier: Apache-2.0
// The clocks of events of which one happens in a clock at most: words that come, places that become
// free.
#pragma once

#include "host/cycles/clock.hpp"
#include "host/cycles/queue.hpp"

namespace gemm64::cycles {

/// Events numbered from 0, kept as runs without a gap.
class Runs {
 public:
  /// The next `count` events, the first of them in clock `first`, one a clock.
  void push(Clock first, Clock count) {
    if (runs_.empty() || first != after_) runs_.push({count_, first});
    count_ += count;
    after_ = first + count;
  }

  Clock count() const { return count_; }
  /// The clock after the last event; 0 where there was none.
  Clock after_last() const { return after_; }

  /// The clock of an event; kUnknown where it has not been pushed yet. Runs before the latest
  /// event asked for are forgotten: an earlier one is then given a clock that is too late, but
  /// before that of the latest.
  Clock at(Clock event) {
    if (event >= count_) return kUnknown;
    while (runs_.size() > 1 && runs_[1].event <= event) runs_.pop();
    return runs_.front().clock + (event - runs_.front().event);
  }

 private:
  struct Run {
    Clock event, clock;  // of its first
  };
  Queue<Run> runs_;
  Clock count_ = 0, after_ = 0;
};

}  // namespace gemm64::cycles

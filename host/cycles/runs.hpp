// SPDX-License-Identifier: Apache-2.0
// The clocks of events of which one happens in a clock at most: words that come, places that become
// free.
#pragma once

#include "host/cycles/clock.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/rate.hpp"

namespace gemm64::cycles {

/// Events numbered from 0, kept as runs that go on at the full rate.
class Runs {
 public:
  Runs() = default;
  explicit Runs(const Rate& rate) : rate_(rate) {}

  /// The next `count` events, the first of them in clock `first`, one a clock.
  void push(Clock first, Clock count) {
    if (runs_.empty() || first != next_) runs_.push({count_, first, 0});
    next_ = first + count;
    count_ += count;
    last_ = next_ - 1;
  }
  /// The next events, at the rate.
  void push(const Beats& beats) {
    if (rate_.full()) return push(beats.first, beats.count);
    if (runs_.empty() || beats.first != next_) {
      runs_.push({count_, beats.first, beats.left});
      next_ = beats.first + rate_.until(beats.count, beats.left);
    } else {
      next_ = runs_.back().clock +
              rate_.until(count_ + beats.count - runs_.back().event, runs_.back().left);
    }
    count_ += beats.count;
    last_ = beats.last;
  }

  Clock count() const { return count_; }
  /// The clock after the last event; 0 where there was none.
  Clock after_last() const { return last_ + 1; }

  /// The clock of an event; kUnknown where it has not been pushed yet. Runs before the latest
  /// event asked for are forgotten: an earlier one is then given a clock that is too late, but no
  /// later than that of the latest.
  Clock at(Clock event) {
    if (event >= count_) return kUnknown;
    const Run& run = find(event);
    return event <= run.event ? run.clock : run.clock + rate_.until(event - run.event, run.left);
  }
  /// How many events, from a known one on, come in clocks that follow each other.
  Clock stretch(Clock event) {
    if (!rate_.full()) return 1;
    find(event);
    return (runs_.size() > 1 ? runs_[1].event : count_) - event;
  }

 private:
  struct Run {
    Clock event, clock, left;  // of its first
  };

  const Run& find(Clock event) {
    while (runs_.size() > 1 && runs_[1].event <= event) runs_.pop();
    return runs_.front();
  }

  Rate rate_;
  Queue<Run> runs_;
  Clock count_ = 0;
  Clock next_ = 0;  // the clock of the next event, should the last run go on
  Clock last_ = kNever;
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// The cycles of events of which one happens in a cycle at most: words that come, places that become
// free.
#pragma once

#include <algorithm>
#include <cstddef>

#include "host/cycles/cycle.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/rate.hpp"

namespace gemm64::cycles {

/// Events numbered from 0, kept as runs that go on at the full rate.
class Runs {
 public:
  Runs() = default;
  explicit Runs(const Rate& rate) : rate_(rate) {}

  /// The next `count` events, the first of them in cycle `first`, one per cycle.
  void push(Cycle first, Cycle count) {
    if (runs_.empty() || first != next_) runs_.push({count_, first, 0, 0, 0});
    next_ = first + count;
    count_ += count;
    last_ = next_ - 1;
  }
  /// As many groups of `count` events, the first of each `step` cycles after that of the one
  /// before.
  void push(Cycle first, Cycle count, Cycle step, Cycle groups) {
    if (step == count || groups == 1) return push(first, count * groups);
    runs_.push({count_, first, 0, count, step});
    count_ += count * groups;
    last_ = first + step * (groups - 1) + count - 1;
    next_ = kUnknown;  // no run goes on after gaps
  }
  /// The next events, at the rate.
  void push(const Beats& beats) {
    if (rate_.full()) return push(beats.first, beats.count);
    if (runs_.empty() || beats.first != next_) {
      runs_.push({count_, beats.first, beats.left, 0, 0});
      next_ = beats.first + rate_.until(beats.count, beats.left);
    } else {
      next_ = runs_.back().clock +
              rate_.until(count_ + beats.count - runs_.back().event, runs_.back().left);
    }
    count_ += beats.count;
    last_ = beats.last;
  }

  Cycle count() const { return count_; }
  /// The cycle after the last event; 0 where there was none.
  Cycle after_last() const { return last_ + 1; }

  /// The clock of an event; kUnknown where it has not been pushed yet. Runs before the latest
  /// event asked for are forgotten: an earlier one is then given a cycle that is too late, but no
  /// later than that of the latest.
  Cycle at(Cycle event) {
    if (event >= count_) return kUnknown;
    const Run& run = find(event);
    if (event <= run.event) return run.clock;
    const Cycle after = event - run.event;
    if (run.group != 0) return run.clock + after / run.group * run.step + after % run.group;
    return run.clock + rate_.until(after, run.left);
  }
  /// Returns how many groups of `size` events, of which `event` is the first one, have come when
  /// they are asked for: the first before cycle `before`, each later one `step` cycles after that.
  /// At least as many have; `step` is no less than `size`, and there are no gaps in the runs.
  Cycle groups(Cycle event, Cycle size, Cycle before, Cycle step, Cycle most) const {
    Cycle groups = 0;
    for (std::size_t i = 0; i < runs_.size() && groups < most; ++i) {
      const Run& run = runs_[i];
      const Cycle end = i + 1 < runs_.size() ? runs_[i + 1].event : count_;
      const Cycle last = event + (groups + 1) * size - 1;
      if (last >= end) continue;
      const Cycle within = std::min(most, (end - event) / size);  // groups that end in the run
      const Cycle asked = before + groups * step - 1 - run.clock;
      if (asked < 0) break;
      if (rate_.full()) {  // later events come no later than they are asked for
        if (last - run.event > asked) break;
        groups = within;
        continue;
      }
      const Cycle come = run.event + 1 + rate_.within(asked, run.left);
      const Cycle now = std::min(within, (come - event) / size);
      groups = std::max(groups, now);
      if (now < within) break;
    }
    return groups;
  }
  /// How many events, from a known one on, come in cycles that follow each other.
  Cycle stretch(Cycle event) {
    if (!rate_.full()) return 1;
    const Run& run = find(event);
    if (run.group != 0) return run.group - (event - run.event) % run.group;
    return (runs_.size() > 1 ? runs_[1].event : count_) - event;
  }

 private:
  struct Run {
    Cycle event, clock, left;  // of its first
    Cycle group, step;         // events without a gap, and from one such group to the next; or 0
  };

  const Run& find(Cycle event) {
    while (runs_.size() > 1 && runs_[1].event <= event) runs_.pop();
    return runs_.front();
  }

  Rate rate_;
  Queue<Run> runs_;
  Cycle count_ = 0;
  Cycle next_ = 0;  // the cycle of the next event, should the last run go on
  Cycle last_ = kNever;
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// The clocks of events of which one happens in a clock at most: words that come, places that become
// free.
#pragma once

#include <algorithm>
#include <cstddef>

#include "host/cycles/clock.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/rate.hpp"
#include "host/cycles/state.hpp"

namespace gemm64::cycles {

/// Events numbered from 0, kept as runs that go on at the full rate.
class Runs {
 public:
  Runs() = default;
  explicit Runs(const Rate& rate) : rate_(rate) {}

  /// The next `count` events, the first of them in clock `first`, one a clock.
  void push(Clock first, Clock count) {
    if (runs_.empty() || first != next_) runs_.push({count_, first, 0, 0, 0});
    next_ = first + count;
    count_ += count;
    last_ = next_ - 1;
  }
  /// As many groups of `count` events, the first of each `step` cycles after that of the one
  /// before.
  void push(Clock first, Clock count, Clock step, Clock groups) {
    if (step == count || groups == 1) return push(first, count * groups);
    if (!goes_on(first, count, step)) runs_.push({count_, first, 0, count, step});
    count_ += count * groups;
    last_ = first + step * (groups - 1) + count - 1;
    next_ = kUnknown;  // no run goes on behind gaps
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

  Clock count() const { return count_; }
  /// The clock after the last event; 0 where there was none.
  Clock after_last() const { return last_ + 1; }

  /// The clock of an event; kUnknown where it has not been pushed yet. Runs before the latest
  /// event asked for are forgotten: an earlier one is then given a clock that is too late, but no
  /// later than that of the latest.
  Clock at(Clock event) {
    if (event >= count_) return kUnknown;
    asked_ = std::max(asked_, event);
    const Run& run = find(event);
    if (event <= run.event) return run.clock;
    return at(run, event);
  }
  /// Returns how many groups of `size` events, of which `event` is the first one, have come when
  /// they are asked for: the first before cycle `before`, each later one `step` cycles after that.
  /// At least as many have; `step` is no less than `size`, and there are no gaps in the runs.
  Clock groups(Clock event, Clock size, Clock before, Clock step, Clock most) const {
    Clock groups = 0;
    for (std::size_t i = 0; i < runs_.size() && groups < most; ++i) {
      const Run& run = runs_[i];
      const Clock end = i + 1 < runs_.size() ? runs_[i + 1].event : count_;
      const Clock last = event + (groups + 1) * size - 1;
      if (last >= end) continue;
      const Clock within = std::min(most, (end - event) / size);  // groups that end in the run
      const Clock asked = before + groups * step - 1 - run.clock;
      if (asked < 0) break;
      if (rate_.full()) {  // later events come no later than they are asked for
        if (last - run.event > asked) break;
        groups = within;
        continue;
      }
      const Clock come = run.event + 1 + rate_.within(asked, run.left);
      const Clock now = std::min(within, (come - event) / size);
      groups = std::max(groups, now);
      if (now < within) break;
    }
    return groups;
  }
  /// How many events, from a known one on, come in clocks that follow each other.
  Clock stretch(Clock event) {
    if (!rate_.full()) return 1;
    const Run& run = find(event);
    if (run.group != 0) return run.group - (event - run.event) % run.group;
    return (runs_.size() > 1 ? runs_[1].event : count_) - event;
  }

  /// No event before this one will be asked for.
  void forget(Clock event) { asked_ = std::max(asked_, event); }

  /// `origin`: of events.
  void state(State& state, Clock origin) {
    if (!state.reads()) simplify(state.floor());
    state.count(count_, origin);
    state.cycle(next_);
    state.cycle(last_);
    state.queue(runs_, [&](Run& run) {
      state.count(run.event, origin);
      state.exact_cycle(run.clock);
      state.number(run.left);
      state.number(run.group);
      state.number(run.step);
    });
    if (state.reads()) asked_ = runs_.empty() ? 0 : runs_.front().event;
  }

 private:
  struct Run {
    Clock event, clock, left;  // of its first
    Clock group, step;         // events without a gap, and from one such group to the next; or 0
  };

  /// Is a group that begins in cycle `first` the next one of the last run?
  bool goes_on(Clock first, Clock count, Clock step) const {
    if (runs_.empty()) return false;
    const Run& last = runs_.back();
    const Clock events = count_ - last.event;
    return last.group == count && last.step == step && events % count == 0 &&
           first == last.clock + events / count * step;
  }

  /// The cycle of an event of a run.
  Clock at(const Run& run, Clock event) const {
    const Clock after = event - run.event;
    if (run.group != 0) return run.clock + after / run.group * run.step + after % run.group;
    return run.clock + rate_.until(after, run.left);
  }
  Clock end(std::size_t run) const {
    return run + 1 < runs_.size() ? runs_[run + 1].event : count_;
  }

  /// Begins with the last event that was asked for. Runs that ended by cycle `floor` become one.
  void simplify(Clock floor) {
    if (runs_.empty()) return;
    if (asked_ >= count_) {
      runs_.clear();
      return;
    }
    find(asked_);
    Run& run = runs_.front();
    if (asked_ > run.event) {
      Clock past = asked_ - run.event;
      if (run.group != 0) past -= past % run.group;
      const Clock cycle = at(run, run.event + past);
      if (run.group == 0) run.left = rate_.left(past, run.left);
      run.clock = cycle;
      run.event += past;
    }
    const Clock first = run.event;
    while (runs_.size() > 1 && at(runs_.front(), end(0) - 1) <= floor &&
           at(runs_[1], end(1) - 1) <= floor) {
      runs_.pop();
    }
    Run& old = runs_.front();
    if (at(old, end(0) - 1) > floor) return;
    old = {first, floor - rate_.until(end(0) - first, 0), 0, 0, 0};
  }

  const Run& find(Clock event) {
    while (runs_.size() > 1 && runs_[1].event <= event) runs_.pop();
    return runs_.front();
  }

  Rate rate_;
  Queue<Run> runs_;
  Clock count_ = 0;
  Clock asked_ = 0;  // the last event that was asked for
  Clock next_ = 0;   // the clock of the next event, should the last run go on
  Clock last_ = kNever;
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// What an engine's cycles were spent on.
#pragma once

#include <algorithm>
#include <cstddef>

#include "host/cycles/cycle.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/rate.hpp"
#include "host/device/counters.hpp"

namespace gemm64::cycles {

/// Accounts for every cycle of one engine, from 0 on, in order. So its causes add up to all.
class Ledger {
 public:
  explicit Ledger(Counters& counters) : counters_(counters) {}

  /// Remembers what each cycle was spent on, for count_before(). Before the first is accounted for.
  void keep_history(const Rate& rate) {
    keeps_history_ = true;
    rate_ = rate;
  }

  /// The cycles before `until` that are not accounted for were spent on `cause`, an index of
  /// kCounters.
  void spend(std::size_t cause, Cycle until) {
    if (until <= next_) return;
    if (keeps_history_) remember(until, cause);
    counters_[cause] += static_cast<std::uint64_t>(until - next_);
    next_ = until;
  }

  /// As spend(), up to the last of `beats`: the cycles with a beat on `transfer`, those before and
  /// between them on `waiting`.
  void spend(std::size_t transfer, std::size_t waiting, const Beats& beats) {
    spend(waiting, beats.first);
    if (keeps_history_) {
      if (rate_.full()) {
        remember(beats.last + 1, transfer);
      } else {
        history_.push({beats.first, beats.last + 1, transfer, waiting, beats});
      }
    }
    counters_[transfer] += static_cast<std::uint64_t>(beats.count);
    counters_[waiting] += static_cast<std::uint64_t>(beats.last + 1 - beats.first - beats.count);
    next_ = beats.last + 1;
  }

  /// The cycles from the first that is not accounted for on: `times` times `busy` cycles on
  /// `cause`, one such time every `period` cycles, and those between them on `waiting`.
  void spend(std::size_t cause, std::size_t waiting, Cycle busy, Cycle period, Cycle times) {
    const Cycle until = next_ + (times - 1) * period + busy;
    if (busy == period || times == 1) return spend(cause, until);
    if (keeps_history_) history_.push({next_, until, cause, waiting, {}, busy, period});
    counters_[cause] += static_cast<std::uint64_t>(busy * times);
    counters_[waiting] += static_cast<std::uint64_t>((period - busy) * (times - 1));
    next_ = until;
  }

  /// The first cycle that is not accounted for.
  Cycle accounted() const { return next_; }

  /// Adds to `counters` what the cycles before `clock` were spent on, all of which are accounted
  /// for. Goes on from the cycle of the call before.
  void count_before(Cycle clock, Counters& counters) {
    forget(clock);
    for (std::size_t i = 0; i < past_.size(); ++i) counters[i] += past_[i];
    if (!history_.empty() && history_.front().from < clock) {
      count(history_.front(), clock, counters);
    }
  }

  /// No counters will be asked for before this cycle.
  void forget(Cycle before) {
    for (; !history_.empty() && history_.front().until <= before; history_.pop()) {
      count(history_.front(), history_.front().until, past_);
    }
  }

 private:
  /// The cycles with one of `beats` were spent on `transfer`, the others on `waiting`; where there
  /// is a period, the first `busy` ones of each.
  struct Span {
    Cycle from, until;
    std::size_t transfer, waiting;
    Beats beats;
    Cycle busy = 0, period = 0;
  };

  /// The cycles from next_ to `until` were spent on `cause`.
  void remember(Cycle until, std::size_t cause) {
    if (!history_.empty()) {
      Span& last = history_.back();
      if (last.transfer == cause && last.beats.count == 0 && last.period == 0) {
        last.until = until;
        return;
      }
    }
    history_.push({next_, until, cause, cause, {}});
  }

  /// Adds the cycles of a span that are before `clock`.
  void count(const Span& span, Cycle clock, Counters& counters) const {
    Cycle moved = 0;
    if (span.beats.count != 0) {
      moved = std::min(span.beats.count, 1 + rate_.within(clock - 1 - span.from, span.beats.left));
    } else if (span.period != 0) {
      const Cycle cycles = clock - span.from;
      moved = cycles / span.period * span.busy + std::min(cycles % span.period, span.busy);
    }
    counters[span.transfer] += static_cast<std::uint64_t>(moved);
    counters[span.waiting] += static_cast<std::uint64_t>(clock - span.from - moved);
  }

  Counters& counters_;
  Cycle next_ = 0;

  bool keeps_history_ = false;
  Rate rate_;
  Queue<Span> history_;  // since the last count_before()
  Counters past_{};      // of the spans before
};

}  // namespace gemm64::cycles

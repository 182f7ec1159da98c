// SPDX-License-Identifier: Apache-2.0
// The pipeline that 8-bit results pass on their way to the port, with VECTOR a longer one.
#pragma once

#include <algorithm>

#include "host/cycles/cycle.hpp"
#include "host/cycles/queue.hpp"

namespace gemm64::cycles {

/// A row enters in a cycle in which the pipeline moves; its beat is at the end that many such
/// cycles later as there are stages, and until memory takes it nothing moves.
class Requantizer {
 public:
  /// Rows from now on pass the element-wise unit, or not; none is in flight.
  void set_vector(bool vector) { stages_ = vector ? kStages + kVectorStages : kStages; }
  /// The first cycle from `from` on in which it moves, as far as it is known which do.
  Cycle moves_from(Cycle from) const { return nth_move(from - 1, 1); }
  /// From a cycle on in which it moves: how many cycles it does, as far as is known.
  Cycle moves(Cycle from) const {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i].until > from) return held_[i].from - from;
    }
    return kUnknown;
  }
  /// The cycle in which the beat of a row that enters in cycle `at` is at the end.
  Cycle end_of(Cycle at) const { return nth_move(at, stages_ - 1) + 1; }
  /// The cycle in which the scales of the tile that begins with this row are read.
  Cycle scales_of(Cycle at) const { return nth_move(at, kScales); }

  /// A beat is at the end from cycle `from` on, and taken in cycle `until`.
  void hold(Cycle from, Cycle until) {
    if (from < until) held_.push({from, until});
  }
  /// Cycles before this one are not needed any more.
  void forget(Cycle before) {
    while (!held_.empty() && held_.front().until <= before) held_.pop();
  }

 private:
  static constexpr Cycle kStages = 9;
  static constexpr Cycle kVectorStages = 11;
  static constexpr Cycle kScales = 3;

  struct Span {
    Cycle from, until;
  };

  /// The n-th clock after `clock` in which it moves.
  Cycle nth_move(Cycle clock, Cycle n) const {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const Span& span = held_[i];
      if (span.until <= clock + 1) continue;
      if (clock + n < span.from) break;
      // That many cycles before it count, none of it.
      n -= std::max(span.from - 1 - clock, Cycle{0});
      clock = span.until - 1;
    }
    return clock + n;
  }

  Cycle stages_ = kStages;
  Queue<Span> held_;  // cycles in which it does not move, in order
};

}  // namespace gemm64::cycles

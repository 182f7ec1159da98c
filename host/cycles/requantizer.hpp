// SPDX-License-Identifier: Apache-2.0
// The pipeline that 8-bit results pass on their way to the port, with VECTOR a longer one.
#pragma once

#include <algorithm>

#include "host/cycles/clock.hpp"
#include "host/cycles/queue.hpp"

namespace gemm64::cycles {

/// A row enters in a clock in which the pipeline moves; its beat is at the end so many such clocks
/// later as there are stages, and until memory takes it nothing moves.
class Requantizer {
 public:
  /// Rows from now on pass the vector path, or not; none is under way.
  void set_vector(bool vector) { stages_ = vector ? kStages + kVectorStages : kStages; }
  /// The first clock from `from` on in which it moves, as far as it is known which do.
  Clock moves_from(Clock from) const { return nth_move(from - 1, 1); }
  /// From a clock on in which it moves: how many clocks it does, as far as is known.
  Clock moves(Clock from) const {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i].until > from) return held_[i].from - from;
    }
    return kUnknown;
  }
  /// The clock in which the beat of a row that enters in clock `at` is at the end.
  Clock end_of(Clock at) const { return nth_move(at, stages_ - 1) + 1; }
  /// The clock in which the scales of the tile that begins with this row are read.
  Clock scales_of(Clock at) const { return nth_move(at, kScales); }

  /// A beat is at the end from clock `from` on, and taken in clock `until`.
  void hold(Clock from, Clock until) {
    if (from < until) held_.push({from, until});
  }
  /// Nobody asks for clocks before this one any more.
  void forget(Clock before) {
    while (!held_.empty() && held_.front().until <= before) held_.pop();
  }

 private:
  static constexpr Clock kStages = 9;
  static constexpr Clock kVectorStages = 11;
  static constexpr Clock kScales = 3;

  struct Span {
    Clock from, until;
  };

  /// The n-th clock after `clock` in which it moves.
  Clock nth_move(Clock clock, Clock n) const {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const Span& span = held_[i];
      if (span.until <= clock + 1) continue;
      if (clock + n < span.from) break;
      // So many clocks before it count, none of it.
      n -= std::max(span.from - 1 - clock, Clock{0});
      clock = span.until - 1;
    }
    return clock + n;
  }

  Clock stages_ = kStages;
  Queue<Span> held_;  // clocks in which it does not move, in order
};

}  // namespace gemm64::cycles

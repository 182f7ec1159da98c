// SPDX-License-Identifier: Apache-2.0
// How fast beats follow each other where memory gives or takes fewer bytes a clock than a beat has.
#pragma once

#include <algorithm>

#include "host/cycles/clock.hpp"

namespace gemm64::cycles {

/// Memory earns `bytes` a clock and a beat costs `width` of them, so that a beat may leave some
/// over for the next: `left`, less than it earns in a clock.
class Rate {
 public:
  /// A beat a clock.
  Rate() = default;
  /// 0, or the width and above: a beat a clock.
  Rate(Clock width, Clock bytes) : width_(width), bytes_(bytes == 0 ? width : bytes) {
    full_ = bytes_ >= width_;
  }

  /// Is it a beat a clock?
  bool full() const { return full_; }

  /// Clocks from a beat that leaves `left` to the one that is `beats` later, at least.
  Clock until(Clock beats, Clock left) const {
    return full_ ? beats : (beats * width_ - left + bytes_ - 1) / bytes_;
  }
  /// The beats after one that leaves `left`, as fast as can be, in the `clocks` clocks behind it.
  Clock within(Clock clocks, Clock left) const {
    return full_ ? clocks : (clocks * bytes_ + left) / width_;
  }
  /// What that one leaves.
  Clock left(Clock beats, Clock left) const {
    return full_ ? 0 : left + until(beats, left) * bytes_ - beats * width_;
  }

 private:
  Clock width_ = 1, bytes_ = 1;
  bool full_ = true;
};

/// Beats as fast as the rate allows, from the first on.
struct Beats {
  Clock first, last, count;
  Clock left;  // what the first leaves
};

/// What memory can move, one beat after the other.
class Budget {
 public:
  explicit Budget(const Rate& rate) : rate_(rate) {}

  /// The next `count` beats, as early as can be, but not before clock `from`.
  Beats move(Clock from, Clock count) {
    const Clock first = std::max(from, next_);
    const Clock left = first == next_ ? left_ : 0;  // lost in a clock without use
    next_ = first + rate_.until(count, left);
    left_ = rate_.left(count, left);
    return {first, first + rate_.until(count - 1, left), count, left};
  }

 private:
  Rate rate_;
  Clock next_ = 0;  // first clock in which a beat may move
  Clock left_ = 0;  // over, should it move then
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// How fast beats follow each other where memory gives or takes fewer bytes per cycle than a beat
// has.
#pragma once

#include <algorithm>

#include "host/cycles/cycle.hpp"

namespace gemm64::cycles {

/// Memory earns `bytes` a cycle and a beat costs `width` of them, so that a beat may leave some
/// over for the next: `left`, less than it earns in a cycle.
class Rate {
 public:
  /// A beat per cycle.
  Rate() = default;
  /// 0, or the width and above: a beat per cycle.
  Rate(Cycle width, Cycle bytes) : width_(width), bytes_(bytes == 0 ? width : bytes) {
    full_ = bytes_ >= width_;
  }

  /// Is it a beat per cycle?
  bool full() const { return full_; }

  /// Cycles from a beat that leaves `left` to the one that is `beats` later, at least.
  Cycle until(Cycle beats, Cycle left) const {
    return full_ ? beats : (beats * width_ - left + bytes_ - 1) / bytes_;
  }
  /// The beats after one that leaves `left`, as fast as can be, in the `cycles` cycles after it.
  Cycle within(Cycle cycles, Cycle left) const {
    return full_ ? cycles : (cycles * bytes_ + left) / width_;
  }
  /// What that one leaves.
  Cycle left(Cycle beats, Cycle left) const {
    return full_ ? 0 : left + until(beats, left) * bytes_ - beats * width_;
  }

 private:
  Cycle width_ = 1, bytes_ = 1;
  bool full_ = true;
};

/// Beats as fast as the rate allows, from the first on.
struct Beats {
  Cycle first, last, count;
  Cycle left;  // what the first leaves
};

/// What memory can move, one beat after the other.
class Budget {
 public:
  explicit Budget(const Rate& rate) : rate_(rate) {}

  /// The next `count` beats, as early as can be, but not before cycle `from`.
  Beats move(Cycle from, Cycle count) {
    const Cycle first = std::max(from, next_);
    const Cycle left = first == next_ ? left_ : 0;  // lost in a cycle without use
    next_ = first + rate_.until(count, left);
    left_ = rate_.left(count, left);
    return {first, first + rate_.until(count - 1, left), count, left};
  }

 private:
  Rate rate_;
  Cycle next_ = 0;  // first cycle in which a beat may move
  Cycle left_ = 0;  // over, should it move then
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// The scratchpad as a convolution uses it: pixels that are kept until no block needs them.
#pragma once

#include "host/cycles/clock.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/rate.hpp"
#include "host/cycles/runs.hpp"

namespace gemm64::cycles {

/// Pixels have room in all planes or in none; their words come one by one, and are claimed by the
/// blocks for which they were loaded. No more pixels are freed than were loaded.
class Pixels {
 public:
  /// `rate`: at which words come.
  explicit Pixels(const Rate& rate) : came_(rate) {}

  // The engine that loads.
  /// First clock in which planes of `capacity` pixels have room for `pixels` more.
  Clock room(Clock pixels, Clock capacity) {
    const Clock wanted = loaded_ + pixels - capacity;
    while (latest_.total < wanted && !freed_.empty()) {
      latest_ = freed_.front();
      freed_.pop();
    }
    return latest_.total < wanted ? kUnknown : latest_.at + 1;
  }
  /// First clock in which no pixel is kept; kUnknown while one is.
  Clock empty() const { return total_freed_ == loaded_ ? last_freed_ + 1 : kUnknown; }
  /// So many more are kept from now on.
  void keep(Clock pixels) { loaded_ += pixels; }
  /// The next words come.
  void fill(const Beats& words) { came_.push(words); }

  // The array.
  /// First clock in which `words` words in all have come.
  Clock holds(Clock words) { return words == 0 ? 0 : came_.at(words - 1) + 1; }
  /// The oldest pixels are needed until clock `at`.
  void free(Clock pixels, Clock at) {
    if (pixels == 0) return;
    total_freed_ += pixels;
    last_freed_ = at;
    freed_.push({total_freed_, at});
  }

 private:
  struct Freed {
    Clock total;  // pixels so far
    Clock at;
  };
  Clock loaded_ = 0, total_freed_ = 0;
  Clock last_freed_ = kNever;
  Freed latest_{0, kNever};  // of those that a load has waited for
  Queue<Freed> freed_;       // those after it
  Runs came_;
};

}  // namespace gemm64::cycles

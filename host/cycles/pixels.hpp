// SPDX-License-Identifier: Apache-2.0
// The scratchpad as a convolution uses it: pixels that are kept until no block needs them.
#pragma once

#include "host/cycles/cycle.hpp"
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
  /// First cycle in which planes of `capacity` pixels have room for `pixels` more.
  Cycle room(Cycle pixels, Cycle capacity) {
    const Cycle wanted = loaded_ + pixels - capacity;
    while (latest_.total < wanted && !freed_.empty()) {
      latest_ = freed_.front();
      freed_.pop();
    }
    return latest_.total < wanted ? kUnknown : latest_.at + 1;
  }
  /// First cycle in which no pixel is kept; kUnknown while one is.
  Cycle empty() const { return total_freed_ == loaded_ ? last_freed_ + 1 : kUnknown; }
  /// That many more are kept from now on.
  void keep(Cycle pixels) { loaded_ += pixels; }
  /// The next words come.
  void fill(const Beats& words) { came_.push(words); }

  // The array.
  /// First cycle in which `words` words in all have come.
  Cycle holds(Cycle words) { return words == 0 ? 0 : came_.at(words - 1) + 1; }
  /// The oldest pixels are needed until cycle `at`.
  void free(Cycle pixels, Cycle at) {
    if (pixels == 0) return;
    total_freed_ += pixels;
    last_freed_ = at;
    freed_.push({total_freed_, at});
  }

 private:
  struct Freed {
    Cycle total;  // pixels so far
    Cycle at;
  };
  Cycle loaded_ = 0, total_freed_ = 0;
  Cycle last_freed_ = kNever;
  Freed latest_{0, kNever};  // of those that a load has waited for
  Queue<Freed> freed_;       // those after it
  Runs came_;
};

}  // namespace gemm64::cycles

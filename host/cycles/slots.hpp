// SPDX-License-Identifier: Apache-2.0
// A limit on the number of items in flight: bursts, commands in a queue, banks in use.
#pragma once

#include <cstddef>
#include <vector>

#include "host/cycles/cycle.hpp"

namespace gemm64::cycles {

/// At most `size` items in flight, which end in the order in which they began. One more may begin
/// in the cycle after the one `size` before it has ended.
class Slots {
 public:
  explicit Slots(std::size_t size) : ends_(size, kNever) {}

  /// First cycle in which one more may begin; kUnknown until the end that it waits for is known.
  Cycle room() const { return begun_ == ends_.size() ? kUnknown : ends_[next_] + 1; }
  void begin() {
    ++begun_;
    next_ = after(next_);
  }
  /// The oldest ends in cycle `at`.
  void end(Cycle at) {
    --begun_;
    ends_[oldest_] = last_end_ = at;
    oldest_ = after(oldest_);
  }

  /// First cycle in which none is in flight; kUnknown while the end of one is.
  Cycle empty() const { return begun_ == 0 ? last_end_ + 1 : kUnknown; }

 private:
  std::size_t after(std::size_t place) const { return place + 1 == ends_.size() ? 0 : place + 1; }

  std::vector<Cycle> ends_;  // of the last use of each place
  std::size_t begun_ = 0;    // and not ended
  std::size_t next_ = 0, oldest_ = 0;
  Cycle last_end_ = kNever;
};

}  // namespace gemm64::cycles

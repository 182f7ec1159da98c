// SPDX-License-Identifier: Apache-2.0
// The two banks of sums, through which the array and the engine that stores wait for each other.
#pragma once

#include "host/cycles/clock.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/rate.hpp"
#include "host/cycles/runs.hpp"

namespace gemm64::cycles {

/// Blocks lie in turn in each bank. The next may begin while the one two before, which has its
/// bank, is stored: its first tile writes each row after the old one was read, its other tiles come
/// when all of the old block has left.
class Banks {
 public:
  /// `rate`: at which beats leave.
  explicit Banks(const Rate& rate) : sent_(rate) {}

  // The array.
  /// First clock in which row `row` of the block under way, or of the next one, may enter.
  Clock room(Clock row) {
    const Store* const store = before();
    if (store == nullptr) return computed_ < kBanks ? 0 : kUnknown;
    if (row == 0) return store->first;
    if (row >= store->rows) return store->last + 1;
    return sent_.at(store->beat + row * store->beats_per_row - 1) + 1;
  }
  /// First clock in which all of its rows may.
  Clock room() {
    const Store* const store = before();
    if (store == nullptr) return computed_ < kBanks ? 0 : kUnknown;
    return store->last + 1;
  }
  /// The block under way is seen as complete in clock `at`.
  void complete(Clock at) {
    complete_.push(at);
    ++computed_;
  }

  // The engine that stores.
  /// The clock in which the oldest block is complete.
  Clock complete() const { return complete_.empty() ? kUnknown : complete_.front(); }
  /// The oldest block, of `rows`, begins to leave: its first beat is there in clock `at`.
  void store(Clock at, Clock rows, Clock beats_per_row) {
    stores_.push({at, kUnknown, sent_.count(), rows, beats_per_row});
  }
  /// The next beats leave.
  void send(const Beats& beats) { sent_.push(beats); }
  /// That was the last of the oldest block.
  void stored() {
    complete_.pop();
    ++stored_;
    if (!stores_.empty()) stores_.back().last = sent_.after_last() - 1;  // else nobody asks
  }

  /// First clock in which neither holds a block; kUnknown while one does.
  Clock empty() const { return stored_ == computed_ ? sent_.after_last() : kUnknown; }

 private:
  static constexpr Clock kBanks = 2;

  struct Store {
    Clock
        first;   // the clock in which its first beat is there, a clock after its first row was read
    Clock last;  // that in which its last leaves
    Clock beat;  // its first, counted over all
    Clock rows, beats_per_row;
  };

  /// The store of the block two before; null where there was none, or none yet.
  const Store* before() {
    for (; known_ < computed_ - kBanks && !stores_.empty(); ++known_) stores_.pop();
    return known_ == computed_ - kBanks && !stores_.empty() ? &stores_.front() : nullptr;
  }

  Clock computed_ = 0, stored_ = 0;  // blocks
  Queue<Clock> complete_;            // blocks not stored: the clock of each
  Queue<Store> stores_;
  Clock known_ = 0;  // the block of the first of them
  Runs sent_;
};

}  // namespace gemm64::cycles

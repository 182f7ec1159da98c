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
    return store->requantized ? passed_.at(store->begin + row - 1) + 1
                              : sent_.at(store->begin + row * store->beats_per_row - 1) + 1;
  }
  /// First clock in which all of its rows may.
  Clock room() {
    const Store* const store = before();
    if (store == nullptr) return computed_ < kBanks ? 0 : kUnknown;
    return store->last + 1;
  }
  /// If row `row` may enter: how many may from it on, one a clock.
  Clock stretch(Clock row) {
    const Store* const store = before();
    if (store == nullptr || row == 0 || !store->requantized) return 1;
    return row < store->rows ? passed_.stretch(store->begin + row - 1) : kUnknown;
  }
  /// The block under way is seen as complete in clock `at`.
  void complete(Clock at) {
    complete_.push(at);
    ++computed_;
  }

  // The engine that stores.
  /// The clock in which the oldest block is complete.
  Clock complete() const { return complete_.empty() ? kUnknown : complete_.front(); }
  /// The oldest block, of `rows`, begins to leave: its first row has been read in clock `at`. It
  /// leaves as beats, or its rows are requantized.
  void store(Clock at, Clock rows, Clock beats_per_row, bool requantized) {
    const Clock begin = requantized ? passed_.count() : sent_.count();
    stores_.push({at, kUnknown, begin, rows, beats_per_row, requantized});
  }
  /// The next beats leave.
  void send(const Beats& beats) { sent_.push(beats); }
  /// The next rows are on their way to be requantized, the first from clock `at` on, the others one
  /// a clock.
  void pass(Clock at, Clock rows) { passed_.push(at, rows); }
  /// That was the last of the oldest block, in clock `at`.
  void stored(Clock at) {
    complete_.pop();
    ++stored_;
    stored_until_ = at;
    if (!stores_.empty()) stores_.back().last = at;  // else nobody asks
  }

  /// First clock in which neither holds a block; kUnknown while one does.
  Clock empty() const { return stored_ == computed_ ? stored_until_ + 1 : kUnknown; }

 private:
  static constexpr Clock kBanks = 2;

  struct Store {
    Clock first;  // a clock after its first row was read
    Clock last;   // that in which it needs its last row no longer
    Clock begin;  // its first beat, or its first row of those that are requantized, over all
    Clock rows, beats_per_row;
    bool requantized;
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
  Clock stored_until_ = kNever;
  Runs sent_;    // beats
  Runs passed_;  // rows that are requantized
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// The two banks of sums, through which the array and the engine that stores wait for each other.
#pragma once

#include "host/cycles/cycle.hpp"
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
  /// First cycle in which row `row` of the current block, or of the next one, may enter; `ahead`:
  /// of the one after it.
  Cycle room(Cycle row, Cycle ahead = 0) {
    const Store* const store = before(ahead);
    if (store == nullptr) return computed_ + ahead < kBanks ? 0 : kUnknown;
    if (row == 0) return store->first;
    if (row >= store->rows) return store->last + 1;
    return store->requantized ? passed_.at(store->begin + row - 1) + 1
                              : sent_.at(store->begin + row * store->beats_per_row - 1) + 1;
  }
  /// First cycle in which all of its rows may.
  Cycle last_room(Cycle ahead = 0) {
    const Store* const store = before(ahead);
    if (store == nullptr) return computed_ + ahead < kBanks ? 0 : kUnknown;
    return store->last + 1;
  }
  /// If row `row` may enter: how many may from it on, one per cycle.
  Cycle stretch(Cycle row, Cycle ahead = 0) {
    const Store* const store = before(ahead);
    if (store == nullptr || row == 0 || !store->requantized) return 1;
    return row < store->rows ? passed_.stretch(store->begin + row - 1) : kUnknown;
  }
  /// The current block is seen as complete in cycle `at`.
  void complete(Cycle at) {
    complete_.push(at);
    ++computed_;
  }

  // The engine that stores.
  /// The cycle in which the oldest block is complete.
  Cycle complete() const { return complete_.empty() ? kUnknown : complete_.front(); }
  /// The oldest block, of `rows`, begins to leave: its first row has been read in cycle `at`. It
  /// leaves as beats, or its rows are requantized.
  void store(Cycle at, Cycle rows, Cycle beats_per_row, bool requantized) {
    const Cycle begin = requantized ? passed_.count() : sent_.count();
    stores_.push({at, kUnknown, begin, rows, beats_per_row, requantized});
  }
  /// The next beats leave.
  void send(const Beats& beats) { sent_.push(beats); }
  /// The next rows are on their way to be requantized, the first from cycle `at` on, the others one
  /// a cycle.
  void pass(Cycle at, Cycle rows) { passed_.push(at, rows); }
  /// That was the last of the oldest block, in cycle `at`.
  void stored(Cycle at) {
    complete_.pop();
    ++stored_;
    stored_until_ = at;
    if (!stores_.empty()) stores_.back().last = at;  // else unused
  }

  /// First cycle in which neither holds a block; kUnknown while one does.
  Cycle empty() const { return stored_ == computed_ ? stored_until_ + 1 : kUnknown; }

 private:
  static constexpr Cycle kBanks = 2;

  struct Store {
    Cycle first;  // a cycle after its first row was read
    Cycle last;   // that in which it needs its last row no longer
    Cycle begin;  // its first beat, or its first row of those that are requantized, over all
    Cycle rows, beats_per_row;
    bool requantized;
  };

  /// The store of the block two before; null where there was none, or none yet.
  const Store* before(Cycle ahead) {
    for (; known_ < computed_ - kBanks && !stores_.empty(); ++known_) stores_.pop();
    const Cycle place = computed_ + ahead - kBanks - known_;
    return place >= 0 && place < static_cast<Cycle>(stores_.size())
               ? &stores_[static_cast<std::size_t>(place)]
               : nullptr;
  }

  Cycle computed_ = 0, stored_ = 0;  // blocks
  Queue<Cycle> complete_;            // blocks not stored: the clock of each
  Queue<Store> stores_;
  Cycle known_ = 0;  // the block of the first of them
  Cycle stored_until_ = kNever;
  Runs sent_;    // beats
  Runs passed_;  // rows that are requantized
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// A model's state as numbers that are the same wherever the model does the same from then on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "host/cycles/clock.hpp"
#include "host/cycles/queue.hpp"

namespace gemm64::cycles {

/// Writes the state of all engines and memories, or reads it at another place of the program.
/// Cycles are relative to `now`, before which no event is left to happen. Each is part of a maximum
/// over an event from `now` on, so those at or before `floor`, which is earlier by more than any
/// number of cycles that is added to one, are the same number. Counts are relative to origins.
class State {
 public:
  /// Writes.
  State(Clock now, Clock floor) : now_(now), floor_(floor) {}
  /// Reads what was written in another cycle, with origins of other values.
  State(const std::vector<Clock>& numbers, const std::vector<Clock>& origins, Clock now,
        Clock floor)
      : now_(now), floor_(floor), reads_(true), numbers_(numbers), origins_(origins) {}

  bool reads() const { return reads_; }
  Clock now() const { return now_; }
  Clock floor() const { return floor_; }
  const std::vector<Clock>& numbers() const { return numbers_; }
  const std::vector<Clock>& origins() const { return origins_; }

  template <class T>
  void number(T& value) {
    if (reads_) {
      value = static_cast<T>(numbers_[read_++]);
    } else {
      numbers_.push_back(static_cast<Clock>(value));
    }
  }
  /// What follows from the place in the program, and must be the same.
  void note(Clock value) { number(value); }
  void count(Clock& value, Clock origin) {
    Clock relative = value - origin;
    number(relative);
    value = relative + origin;
  }
  /// The value, or when reading that of the other place.
  Clock origin(Clock value) {
    if (reads_) return origins_[origins_read_++];
    origins_.push_back(value);
    return value;
  }
  void cycle(Clock& value) {
    if (!reads_) {
      numbers_.push_back(known(value) ? std::max(value, floor_) - now_ : kUnknown);
    } else {
      value = numbers_[read_++];
      if (known(value)) value += now_;
    }
  }
  /// A cycle that is none of an event, such as that in which a run began.
  void exact_cycle(Clock& value) { count(value, now_); }

  /// Calls `each` with each item.
  template <class T, class Each>
  void queue(Queue<T>& items, Each&& each) {
    std::size_t size = items.size();
    number(size);
    if (reads_) items.clear();
    for (std::size_t i = 0; i < size; ++i) {
      T item = reads_ ? T{} : items[i];
      each(item);
      if (reads_) items.push(item);
    }
  }

 private:
  Clock now_, floor_;
  bool reads_ = false;
  std::vector<Clock> numbers_, origins_;
  std::size_t read_ = 0, origins_read_ = 0;
};

}  // namespace gemm64::cycles

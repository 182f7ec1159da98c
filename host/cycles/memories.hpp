// SPDX-License-Identifier: Apache-2.0
// The memories on the chip, by which the engines wait for each other.
#pragma once

#include "host/cycles/banks.hpp"
#include "host/cycles/cycle.hpp"
#include "host/cycles/pixels.hpp"
#include "host/cycles/runs.hpp"
#include "host/device/geometry.hpp"
#include "host/device/result_format.hpp"

namespace gemm64::cycles {

/// Words between a load engine and the array, in the order in which they were asked for.
class WordBuffer {
 public:
  /// `words` words become free at once.
  WordBuffer(Cycle capacity, Cycle freed_words, const Rate& rate)
      : capacity_(capacity), freed_words_(freed_words), filled_(rate) {}

  // The engine that fills it.
  /// First cycle in which there is room for `words` words in all since the start.
  Cycle room(Cycle words) {
    return words <= capacity_ ? 0 : freed_.at((words - capacity_ - 1) / freed_words_) + 1;
  }
  /// The next words come.
  void fill(const Beats& words) { filled_.push(words); }

  // Those who take from it.
  /// First cycle in which `words` words in all have come.
  Cycle holds(Cycle words) { return filled_.at(words - 1) + 1; }
  /// Returns how many groups of `size` words after `words` words are there when they are asked for
  /// (Runs::groups()): the first in cycle `first`, each later one `step` cycles after that.
  Cycle groups(Cycle words, Cycle size, Cycle first, Cycle step, Cycle most) const {
    return filled_.groups(words, size, first, step, most);
  }
  /// The oldest words leave in cycle `first` and after, `count` times.
  void free(Cycle first, Cycle count) { freed_.push(first, count); }
  /// The same for as many groups of words, each `step` cycles after the one before.
  void free(Cycle first, Cycle count, Cycle step, Cycle groups) {
    freed_.push(first, count, step, groups);
  }

  /// First cycle in which it holds no word; kUnknown while it does.
  Cycle empty() const {
    return freed_.count() * freed_words_ == filled_.count() ? freed_.after_last() : kUnknown;
  }

 private:
  Cycle capacity_, freed_words_;
  Runs filled_, freed_;
};

struct Memories {
  /// `rate`: at which words come.
  Memories(const Geometry& geometry, const Rate& rate)
      : weights(Cycle{geometry.weight_tiles} * geometry.n, 1, rate),
        scratchpad(geometry.scratchpad_words, 1, rate),
        parameters(geometry.parameter_words(), kParameterSetWords, rate),
        operands(geometry.operand_words(), 1, rate),
        pixels(rate),
        banks(rate) {}

  WordBuffer weights, scratchpad, parameters, operands;
  Pixels pixels;  // in the scratchpad, where it holds no word of the ring
  Banks banks;
};

}  // namespace gemm64::cycles

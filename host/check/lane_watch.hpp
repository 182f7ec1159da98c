// SPDX-License-Identifier: Apache-2.0
// Finds where a value on a depthwise lane changed in the line memories
// and the window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/check/beat_watch.hpp"
#include "host/device/depthwise.hpp"

namespace gemm64 {

/// Observes a program from reset and, of the lane that makes an element, each value that the lanes
/// keep: it moves on when a word comes, from the last row to the one above it, or stays what it is.
class LaneWatch : public Observer {
 public:
  /// Watches as BeatWatch does.
  LaneWatch(const Job& job, std::uint64_t row, std::uint64_t column, const JobProgram* list,
            std::size_t place);

  void clock(std::uint64_t clock, const Probe& probe) override;

  /// As BeatWatch's; where a value changed by itself before the element left, the last such one.
  Finding finding() const;

 private:
  using Value = std::int8_t;
  struct Values {
    Probe::LanesShift shift;
    std::array<std::array<Value, kLaneLineWords>, kLaneLines> lines{};
    std::array<std::array<Value, kLaneWindow>, kLaneWindow> window{};
  };

  Values look(const Probe& probe) const;
  void check(const Values& now, std::uint64_t clock);
  void found(Finding::Place place, std::uint64_t clock, unsigned bank, unsigned row, Value expected,
             Value found);

  BeatWatch beats_;
  const unsigned lane_;
  std::optional<Values> last_, before_last_;  // of the cycles before
  std::optional<Finding> finding_;
};

}  // namespace gemm64

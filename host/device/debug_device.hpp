// SPDX-License-Identifier: Apache-2.0
// A device that can be looked into: what happens inside, cycle by cycle, and faults put there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/device/device.hpp"
#include "host/device/fault.hpp"
#include "host/device/registers.hpp"

namespace gemm64 {

/// A bit for each counter: what counts in a cycle.
using Events = std::uint64_t;
static_assert(kCounters.size() <= 64, "Events has a bit for each counter");

/// The bit of a counter (gemm64::counter) in Probe::events().
constexpr Events event_bit(std::size_t counter) { return Events{1} << counter; }

/// The inside of an accelerator in one cycle, as it is just before the clock's edge. Rows, columns,
/// stages and banks count from 0; indices outside the accelerator are the caller's mistake.
class Probe {
 public:
  virtual ~Probe() = default;

  /// The bits of the counters that count in this cycle: what each engine does.
  virtual Events events() const = 0;
  bool counts(std::size_t counter) const { return (events() & event_bit(counter)) != 0; }

  /// The operands of the multiplier at `row` (of K) and `column` (of N) of the array.
  virtual std::int8_t weight(unsigned row, unsigned column) const = 0;
  virtual std::int8_t activation(unsigned row, unsigned column) const = 0;

  /// The partial sum that `stage` has made of `column`; that of the last stage leaves the array.
  virtual std::int32_t partial_sum(unsigned stage, unsigned column) const = 0;

  /// What the accumulator holds for `row` (of M) and `column` (of N) in `bank`.
  virtual std::int32_t accumulator(unsigned bank, unsigned row, unsigned column) const = 0;

  /// What the depthwise lanes do at the clock's edge: a word comes into their window.
  struct LanesShift {
    bool shifts = false;
    unsigned column = 0;  // of the word, in its row
    unsigned rows = 0;    // bit r: the kernel has a row r
  };
  virtual LanesShift lanes_shift() const = 0;

  /// A lane's value in the window, `row` rows and `column` words before the last one.
  virtual std::int8_t lane_value(unsigned row, unsigned column, unsigned lane) const = 0;

  /// What line memory `line` keeps for it of the row that came line + 1 rows before the last one.
  virtual std::int8_t lane_line(unsigned line, unsigned column, unsigned lane) const = 0;
};

/// Called in each cycle outside reset, before its edge. An exception ends the simulation.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void clock(std::uint64_t clock, const Probe& probe) = 0;
};

/// A device with a notion of time that can be looked into. Slower than one that cannot.
class DebugDevice : public Device {
 public:
  /// Shows every cycle from now on to `observer` too; it outlives the device.
  virtual void observe(Observer& observer) = 0;

  /// Writes the signals of the cycles begin <= clock < end to the trace file that the device was
  /// built with. May be called while cycles pass; one window a device.
  virtual void trace(std::uint64_t begin, std::uint64_t end) = 0;

  /// Puts a fault inside at its clock; its place exists (check_fault).
  virtual void inject(const Fault& fault) = 0;
};

}  // namespace gemm64

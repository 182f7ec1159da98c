// SPDX-License-Identifier: Apache-2.0
// A DRAM channel: when the commands of each burst are issued.
#pragma once

#include <cstdint>
#include <vector>

#include "host/cycles/cycle.hpp"
#include "host/device/dram_timing.hpp"

namespace gemm64::cycles {

/// Cycles of CK, counted from the one in which cycle 0 of the accelerator begins.
using Tick = std::int64_t;

/// Between CK and the cycle of the accelerator, which begin together. An event is seen at the next
/// edge of the other one.
class ClockCrossing {
 public:
  explicit ClockCrossing(const DramTiming& timing) : clock_(timing.clock), ck_(timing.ck) {}

  /// First tick that sees what was handed over in a cycle.
  Tick seen(Cycle cycle) const { return ((cycle + 1) * ck_ + clock_ - 1) / clock_; }
  /// First cycle in which data that have come at a tick can move.
  Cycle there(Tick tick) const { return (tick * clock_ + ck_ - 1) / ck_; }
  /// First cycle that sees what happens in a tick.
  Cycle after(Tick tick) const { return tick * clock_ / ck_ + 1; }

 private:
  std::int64_t clock_, ck_;
};

/// The recurrence of its commands: bursts are issued in the order in which they are asked for, each
/// as early as the times between commands allow. A row is opened ahead of its turn.
class DramChannel {
 public:
  explicit DramChannel(const DramTiming& timing);

  /// Issues the next burst, at `address`, which the controller sees from tick `seen` on. `data`: of
  /// a write, the first tick in which its data are there. Returns the tick of its column command.
  Tick read(std::uint64_t address, Tick seen) { return issue(address, false, seen, seen); }
  Tick write(std::uint64_t address, Tick seen, Tick data) {
    return issue(address, true, seen, data);
  }

  const DramCounts& counts() const { return counts_; }

 private:
  static constexpr Tick kLongAgo = -(Tick{1} << 40);  // no constraint

  struct Bank {
    bool open = false;
    std::uint64_t row = 0;
    Tick precharge = kLongAgo;  // first for PRE, where it is open
    Tick activate = kLongAgo;   // first for ACT, where it is closed
  };
  /// Of a bank group, and of all: the last ACT and columns.
  struct Last {
    Tick activate = kLongAgo, read = kLongAgo, write = kLongAgo;
  };

  Tick issue(std::uint64_t address, bool write, Tick seen, Tick data);
  Tick activate(const Bank& bank, const Last& group, Tick seen) const;
  Tick column(const Last& group, bool write) const;
  void refresh();

  const DramTiming timing_;
  std::vector<Bank> banks_;
  std::vector<Last> groups_;
  Last all_;
  Tick activates_[4] = {kLongAgo, kLongAgo, kLongAgo, kLongAgo};  // the last four ACTs
  std::size_t oldest_ = 0;                                        // of them
  Tick due_;                                                      // the next refresh
  DramCounts counts_;
};

}  // namespace gemm64::cycles

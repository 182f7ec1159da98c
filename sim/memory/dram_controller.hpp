// SPDX-License-Identifier: Apache-2.0
// A DRAM channel and its controller, tick by tick: all ports of the accelerator in front of it.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "host/device/dram_timing.hpp"
#include "sim/memory/ring_buffer.hpp"

namespace gemm64 {

/// The controller serves the channel's bursts in the order in which the ports' addresses are
/// accepted, of those of one cycle in the order of the ports. Ahead of its turn a burst's row is
/// opened: a bank that the bursts before it need no longer is closed, and rows are opened in the
/// order of the bursts. Results wait in the write buffer; sim/README.md has all rules.
class DramController {
 public:
  /// `width`: bytes of a beat, the same at all ports.
  DramController(const DramTiming& timing, unsigned width);

  void set_latency(unsigned cycles) { latency_ = cycles; }
  /// Adds a port and returns its number.
  unsigned join(bool writes);
  /// Forgets every burst, as a hard reset does. Counts start from zero.
  void reset();

  /// The accelerator is idle in cycle `clock`. Where no burst is left, the channel is then as new
  /// in the cycle after: all banks closed, the next refresh a whole tREFI ahead.
  void rest(std::uint64_t clock);

  // Of the ports. Each calls begin_clock() first; the first call of a cycle counts.
  void begin_clock(std::uint64_t clock) {
    if (clock == clock_) return;
    clock_ = clock;
    if (clock >= epoch_) run(clock - epoch_);
  }
  /// May a beat move: of a read, is it there; of a write, is there space in the buffer?
  bool may_move(unsigned port);
  void moved(unsigned port);
  /// Are the data of the oldest write without an answer in the channel? Its answer() follows.
  bool may_answer(unsigned port) { return arrived(ports_[port]); }
  void answer(unsigned port) { --ports_[port].there; }
  void accepted(unsigned port, std::uint64_t address, unsigned beats);

  const DramCounts& counts() const { return counts_; }

 private:
  using Tick = std::int64_t;
  static constexpr Tick kLongAgo = std::numeric_limits<Tick>::min() / 4;

  struct Burst {
    unsigned port;
    unsigned bank, group;
    std::uint64_t row;
    std::uint64_t beats;  // that come or leave with it
    std::uint64_t needs;  // of a write: beats in the buffer since the start
    bool write;
    bool last;  // of its address
  };
  struct Bank {
    bool open = false;
    std::uint64_t row = 0;
    Tick opened = kLongAgo, closed = kLongAgo, read = kLongAgo, write = kLongAgo;
    bool used = false;  // since the last refresh, last in row `used_row`
    std::uint64_t used_row = 0;
    bool planned = false;  // `planned_row` is or will be open for the bursts that have their row
    std::uint64_t planned_row = 0;
    std::deque<std::uint64_t> waiting;  // numbers of the bursts for it
  };
  struct Port {
    bool writes = false;
    std::uint64_t there = 0;  // beats of reads, answers to writes
    struct Data {
      std::uint64_t clock, count;
    };
    RingBuffer<Data> coming;
  };

  bool arrived(Port& port);
  void run(std::uint64_t clock);
  void tick();
  bool may_close(const Bank& bank) const;
  void refresh();
  void close_rows();
  void open_rows();
  bool open(const Burst& burst);
  void issue();
  bool may_issue(const Burst& burst) const;
  Burst& burst(std::uint64_t number) { return bursts_[number - first_]; }

  const DramTiming timing_;
  const unsigned width_;
  unsigned latency_ = 100;
  std::vector<Port> ports_;
  std::vector<Bank> banks_;
  std::vector<Tick> group_opened_, group_read_, group_write_;
  Tick opened_ = kLongAgo, read_ = kLongAgo, write_ = kLongAgo;  // of any bank
  std::deque<Tick> four_opened_;                                 // the last four ACTs
  Tick refreshed_ = kLongAgo;                                    // end of the last refresh
  Tick due_ = 0;                                                 // the next one
  Tick tick_ = 0;                                                // the next
  std::deque<Burst> bursts_;
  // Numbers of bursts: the oldest; the oldest that has no row yet; the first that is not seen yet;
  // and the next.
  std::uint64_t first_ = 0, rowless_ = 0, seen_ = 0, next_ = 0;
  std::uint64_t taken_ = 0, seen_beats_ = 0, freed_ = 0;  // beats of the write buffer
  std::uint64_t asked_ = 0;                               // beats of all writes accepted
  std::uint64_t clock_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t epoch_ = 0;  // the cycle in which tick 0 begins
  bool is_new_ = true;
  DramCounts counts_;
};

}  // namespace gemm64

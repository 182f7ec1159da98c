// SPDX-License-Identifier: Apache-2.0
// A port and its memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/cycles/cycle.hpp"
#include "host/cycles/dram.hpp"
#include "host/cycles/rate.hpp"

namespace gemm64::cycles {

class MemoryPort;

/// An engine that asks for bursts through a port.
class Requester {
 public:
  Requester() = default;
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;
  virtual ~Requester() = default;

  /// First cycle in which the next burst may be asked for, as far as the port is free.
  virtual Cycle next_request() = 0;
  /// Will it never ask again?
  virtual bool all_requested() const { return false; }
  /// Is that burst one of the tensor memory?
  virtual bool asks_tensor_memory() const { return false; }
  /// Asks for it in cycle `at`: hands it to the port.
  virtual void ask(Cycle at) = 0;
  /// The port has accepted it: has memory serve it.
  virtual void serve(MemoryPort& port) = 0;
};

/// What ports share of a DRAM channel.
struct Dram {
  explicit Dram(const DramTiming& of) : timing(of), crossing(of), channel(of) {}

  DramTiming timing;
  ClockCrossing crossing;
  DramChannel channel;
};

/// A port, in front of which one request waits until memory accepts it. Memory serves them in the
/// order of accept().
class MemoryPort {
 public:
  /// In an in-order memory no beat of a write comes with its address. Ports in front of one memory
  /// share its budget.
  MemoryPort(Cycle latency, bool in_order, Budget& budget)
      : latency_(latency), in_order_(in_order), budget_(budget) {}
  /// In front of the tensor memory, which moves a beat per cycle; ports of others may be slower, so
  /// that its beats are reported one by one.
  MemoryPort(Cycle latency, Budget& budget, bool full)
      : latency_(latency), in_order_(true), tensor_(true), one_by_one_(!full), budget_(budget) {}
  /// In front of a DRAM channel; `width`: bytes of a beat.
  MemoryPort(Cycle latency, Budget& budget, Dram& dram, std::uint32_t width)
      : latency_(latency),
        in_order_(false),
        budget_(budget),
        dram_(&dram),
        width_(width),
        freed_(std::max<std::size_t>(1, dram.timing.write_buffer / width), 0) {}

  /// The port of the same engines in front of the other memory.
  void set_other(const MemoryPort& other) { other_ = &other; }
  /// The cycle in which a request that may be made from cycle `next` on can be handed to that port;
  /// kUnknown while another one waits there.
  Cycle at_other(Cycle next) const {
    return other_->waits_ ? kUnknown : std::max(next, other_->free());
  }
  /// Is it one of the tensor memory?
  bool of_tensor_memory() const { return tensor_; }
  /// First cycle in which a request can be handed to it: in which the one before is accepted.
  Cycle free() const { return accepted_; }
  /// The request is accepted in cycle `at`, at the earliest the one after it was handed over.
  void accept(Cycle at) {
    accepted_ = at;
    waits_ = false;
  }
  /// A request was handed to it, and waits to be accepted.
  void wait() { waits_ = true; }
  bool waits() const { return waits_; }

  /// The request accepted last is a read of `beats` from `address`. Calls `move` with the beats,
  /// which have gaps between one call and the next. Returns the cycle of the last one.
  template <class Move>
  Cycle read(std::uint64_t address, Cycle beats, Move&& move) {
    if (dram_ == nullptr) {
      const Beats moved = budget_.move(accepted_ + latency_, beats);
      answered_ = moved.last;
      report(moved, move);
      return answered_;
    }
    Together<Move> together(move);
    const Tick seen = dram_->crossing.seen(accepted_);
    const Tick data = Tick{dram_->timing.rl} + dram_->timing.t_burst;
    each_burst(address, beats, [&](std::uint64_t from, Cycle count, Cycle bursts) {
      Tick tick = 0;
      for (Cycle i = 0; i < bursts; ++i) tick = dram_->channel.read(burst_at(from, i), seen);
      const Cycle there = dram_->crossing.there(tick + data) + latency_;
      const Cycle first = std::max(there, answered_ + 1);
      together.add(first, count);
      answered_ = first + count - 1;
    });
    return answered_;
  }

  /// It is a write of `beats` to `address`, of which the first is there in cycle `from`, each other
  /// one as soon as the one before has moved. As above.
  template <class Move>
  Cycle write(Cycle from, std::uint64_t address, Cycle beats, Move&& move) {
    if (dram_ == nullptr) {
      const Beats moved = budget_.move(std::max(from, accepted_ + (in_order_ ? 1 : 0)), beats);
      answered_ = std::max(std::max(accepted_, moved.last) + latency_, answered_ + 1);
      report(moved, move);
      return moved.last;
    }
    Cycle last = from - 1;
    Tick tick = 0;
    {
      Together<Move> together(move);
      const Tick seen = dram_->crossing.seen(accepted_);
      each_burst(address, beats, [&](std::uint64_t of, Cycle count, Cycle bursts) {
        for (Cycle i = 0; i < count; ++i) {
          last =
              std::max(last + 1, freed_[(written_ + static_cast<std::size_t>(i)) % freed_.size()]);
          together.add(last, 1);
        }
        const Tick data = dram_->crossing.seen(last);
        for (Cycle i = 0; i < bursts; ++i) tick = dram_->channel.write(burst_at(of, i), seen, data);
        for (Cycle i = 0; i < count; ++i) {
          freed_[written_++ % freed_.size()] = dram_->crossing.after(tick);
        }
      });
    }
    const Tick end = tick + dram_->timing.wl + dram_->timing.t_burst;
    answered_ = std::max(dram_->crossing.there(end) + latency_, answered_ + 1);
    return last;
  }
  /// Cycle in which it was answered: the last beat of a read, the answer to a write.
  Cycle answered() const { return answered_; }

 private:
  /// Beats without a gap between them as one.
  template <class Move>
  class Together {
   public:
    explicit Together(Move& move) : move_(move) {}
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;
    ~Together() { end(); }

    void add(Cycle first, Cycle count) {
      if (count_ != 0 && first != first_ + count_) end();
      if (count_ == 0) first_ = first;
      count_ += count;
    }

   private:
    void end() {
      if (count_ != 0) move_(Beats{first_, first_ + count_ - 1, count_, 0});
      count_ = 0;
    }

    Move& move_;
    Cycle first_ = 0, count_ = 0;
  };

  /// Calls `each` with the address of some beats, their number, and that of the channel's bursts
  /// that hold them: beats of one burst, or one beat of several bursts.
  template <class Each>
  void each_burst(std::uint64_t address, Cycle beats, Each&& each) const {
    const std::uint64_t burst = dram_->timing.burst_bytes();
    while (beats != 0) {
      const std::uint64_t left = burst - address % burst;
      const Cycle count = std::min(beats, std::max(Cycle{1}, static_cast<Cycle>(left / width_)));
      each(address, count, static_cast<Cycle>(std::max<std::uint64_t>(1, width_ / burst)));
      address += static_cast<std::uint64_t>(count) * width_;
      beats -= count;
    }
  }
  std::uint64_t burst_at(std::uint64_t address, Cycle index) const {
    return address + static_cast<std::uint64_t>(index) * dram_->timing.burst_bytes();
  }

  template <class Move>
  void report(const Beats& moved, Move& move) const {
    if (!one_by_one_) return move(moved);
    for (Cycle at = moved.first; at <= moved.last; ++at) move(Beats{at, at, 1, 0});
  }

  Cycle latency_;
  bool in_order_;
  bool tensor_ = false, one_by_one_ = false;
  Budget& budget_;
  const MemoryPort* other_ = nullptr;
  Cycle accepted_ = 0;
  bool waits_ = false;
  Cycle answered_ = kNever;
  Dram* dram_ = nullptr;
  std::uint32_t width_ = 1;
  std::vector<Cycle> freed_;  // when the place of each beat of the write buffer is free
  std::size_t written_ = 0;   // beats
};

}  // namespace gemm64::cycles

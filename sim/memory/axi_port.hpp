// SPDX-License-Identifier: Apache-2.0
// What every AXI4 port of the memory has in common: timing, stalls, errors, protocol checks.
//
// Time is counted in cycles. In each cycle a port first says what it drives (begin_clock), then
// sees what the master drives (end_clock); a channel's handshake happens in the cycle in which both
// valid and ready are high. The per-clock functions are inline: the simulation calls them a million
// times a second for each port.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "sim/memory/axi_response.hpp"
#include "sim/memory/burst_target.hpp"
#include "sim/memory/dram_controller.hpp"
#include "sim/memory/memory.hpp"
#include "sim/memory/memory_arbiter.hpp"
#include "sim/memory/ring_buffer.hpp"

namespace gemm64 {

/// The payload of an address channel: ARADDR, ARLEN (beats - 1), ARSIZE, ARBURST, ARID or AW*.
struct AxiAddress {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  std::uint8_t size = 0;
  std::uint8_t burst = 0;
  std::uint8_t id = 0;

  bool operator==(const AxiAddress& other) const {
    return address == other.address && length == other.length && size == other.size &&
           burst == other.burst && id == other.id;
  }
};

/// The channels of a port: AR or AW, R or W, B.
enum class AxiChannel : std::uint8_t { kAddress, kData, kResponse };

/// What becomes of a handshake: the sender takes it for done and the receiver never sees it, or
/// sees it twice.
enum class AxiUpset : std::uint8_t { kNone, kLost, kRepeated };

/// Handshakes since construction or clear_statistics().
struct AxiPortStatistics {
  std::uint64_t bursts = 0;  // address handshakes
  std::uint64_t beats = 0;   // data handshakes
};

/// What read and write ports share: latency, throttle, stalls, injected errors and the rules of the
/// address channel. A master that breaks a rule of AXI4, or of this accelerator's ports (full-width
/// INCR bursts of at most 64 beats within 4 KiB), makes end_clock() throw std::logic_error with the
/// port, the clock, the rule and the values.
class AxiPort {
 public:
  static constexpr unsigned kMinWidth = 2;
  static constexpr unsigned kMaxWidth = 64;
  static constexpr unsigned kMaxBeats = 64;
  static constexpr unsigned kBoundary =
      4096;  // no burst may cross a multiple of this (AXI4 A3.4.1)

  AxiPort(const AxiPort&) = delete;
  AxiPort& operator=(const AxiPort&) = delete;

  const std::string& name() const { return name_; }
  /// Bytes of a beat.
  unsigned width() const { return width_; }
  unsigned latency() const { return latency_; }

  /// Cycles from a request to its answer, for requests accepted from now on. Throws UsageError for
  /// 0.
  void set_latency(unsigned cycles);

  /// Puts the port before the memory that `arbiter` shares out, for good. The arbiter outlives the
  /// port and is reset next to it.
  void share(MemoryArbiter& arbiter);

  /// The same in front of a DRAM channel, whose ports have their order by calls of this.
  void share(DramController& dram, bool writes);

  /// Sends every burst accepted from now on to `target`, which outlives the port and says how long
  /// each takes, instead of to the memory. Nothing must be in progress.
  void divert(BurstTarget& target) { target_ = &target; }

  /// Limits this port's data to `bytes` a cycle on average; 0, or the width and above: no limit.
  void set_bytes_per_cycle(unsigned bytes);

  /// In each cycle withholds each ready, and each valid not yet raised, with `probability`; the
  /// payload of a channel without valid is then noise. 0 turns it off. The sequence restarts
  /// with each reset(). Throws UsageError outside 0 <= probability < 1.
  void set_stalls(double probability, std::uint32_t seed);

  /// Never answers the `index`-th burst accepted from now (0 is the next), nor any after it;
  /// addresses and write data are still taken. reset() ends it.
  void hang_after(std::uint64_t index) {
    hang_from_ = statistics_base_ + statistics_.bursts + index;
  }

  /// Upsets the next handshake on `channel`; reset() forgets it.
  void upset(AxiChannel channel, AxiUpset upset) {
    upsets_[static_cast<std::size_t>(channel)] = upset;
    upset_ = true;
  }

  const AxiPortStatistics& statistics() const { return statistics_; }
  void clear_statistics();

 protected:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr unsigned kNoBeat = std::numeric_limits<unsigned>::max();

  struct Fault {
    std::uint64_t burst = kNever;
    unsigned beat = kNoBeat;
    AxiResponse response = AxiResponse::kOkay;
  };

  /// `width` is a power of two in 2..64, else UsageError; `memory` outlives the port.
  AxiPort(std::string name, Memory& memory, unsigned width);
  ~AxiPort() = default;

  void reset_base();
  void add_fault(std::uint64_t index, unsigned beat, AxiResponse response);
  /// The fault of the burst that is being accepted, with kNoBeat for none; forgets it.
  Fault take_fault();

  /// Is the next handshake on `channel` to be upset in this way? Forgets it if so.
  bool take_upset(AxiChannel channel, AxiUpset upset) {
    if (!upset_) return false;
    AxiUpset& waiting = upsets_[static_cast<std::size_t>(channel)];
    if (waiting != upset) return false;
    waiting = AxiUpset::kNone;
    return true;
  }

  /// Draws this cycle's stalls and credit. `stalled` has a bit for each channel, lowest first.
  void begin_irregular_clock() {
    if (arbiter_ != nullptr) arbiter_->begin_clock(clock_);
    if (dram_ != nullptr) dram_->begin_clock(clock_);
    if (stall_threshold_ != 0) {
      const std::uint64_t draw = random();
      stalled_ = (draw & kDrawMask) < stall_threshold_ ? 1u : 0u;
      if (((draw >> kDrawBits) & kDrawMask) < stall_threshold_) stalled_ |= 2u;
      if (((draw >> (2 * kDrawBits)) & kDrawMask) < stall_threshold_) stalled_ |= 4u;
    }
    // Adding only below one beat loses no fraction of a beat while data is waiting: the average of
    // a busy port is exact. An idle cycle leaves one beat and no fraction, so that a program takes
    // the same cycles whatever ran before it.
    if (bytes_per_cycle_ != 0) credit_ = credit_ < width_ ? credit_ + bytes_per_cycle_ : width_;
  }
  /// May an address be accepted?
  bool may_accept() const { return arbiter_ == nullptr || arbiter_->may_accept(arbiter_port_); }
  /// May a beat of the oldest burst move? The caller then calls moved().
  bool may_move() const {
    return (bytes_per_cycle_ == 0 || credit_ >= width_) &&
           (arbiter_ == nullptr || arbiter_->may_move(arbiter_port_)) &&
           (dram_ == nullptr || dram_->may_move(dram_port_));
  }
  void moved() {
    if (bytes_per_cycle_ != 0) credit_ -= width_;
    if (arbiter_ != nullptr) arbiter_->moved();
    if (dram_ != nullptr) dram_->moved(dram_port_);
  }
  /// The last beat of the oldest burst has moved, or the master has the answer to it.
  void complete() {
    if (arbiter_ != nullptr) arbiter_->complete();
  }
  void answered() {
    if (arbiter_ != nullptr) arbiter_->answered();
  }

  std::uint64_t random() {  // splitmix64
    std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  void fill_with_noise(std::uint8_t* bytes);

  /// Follows the address channel; says how often a burst was accepted in this cycle: 0 or 1, or 2
  /// where the handshake is repeated.
  unsigned address_handshake(const char* channel, bool valid, bool ready,
                             const AxiAddress& address) {
    if (!valid) {
      if (address_waits_) fail_dropped(channel);
      return 0;
    }
    if (address_waits_ && !(address == waiting_address_)) fail_changed(channel, address);
    address_waits_ = !ready;
    if (arbiter_ != nullptr) arbiter_->waits(arbiter_port_, !ready);
    if (ready) {
      check_address(channel, address);
      if (take_upset(AxiChannel::kAddress, AxiUpset::kLost)) return 0;
      const unsigned times = take_upset(AxiChannel::kAddress, AxiUpset::kRepeated) ? 2 : 1;
      if (arbiter_ != nullptr) {
        for (unsigned i = 0; i < times; ++i) arbiter_->accepted(arbiter_port_);
      }
      if (dram_ != nullptr) {
        for (unsigned i = 0; i < times; ++i) {
          dram_->accepted(dram_port_, address.address, address.length + 1u);
        }
      }
      return times;
    }
    waiting_address_ = address;
    return 0;
  }

  /// How many of a burst's beats lie wholly inside the memory; they are the first ones.
  unsigned beats_inside(const AxiAddress& address) const {
    if (target_ != nullptr) return address.length + 1u;  // it will tell
    const std::uint64_t size = memory_.size();
    if (address.address >= size) return 0;
    const std::uint64_t fit = (size - address.address) / width_;
    const unsigned beats = address.length + 1u;
    return fit < beats ? static_cast<unsigned>(fit) : beats;
  }

  void copy_beat(std::uint8_t* to, const std::uint8_t* from) const {
    if (width_ == kMaxWidth) {
      std::memcpy(to, from, kMaxWidth);  // a constant size, hence a few vector moves
    } else {
      std::memcpy(to, from, width_);
    }
  }

  [[noreturn]] void fail(const std::string& rule) const;
  [[noreturn]] void fail_dropped(const char* channel) const;

  Memory& memory_;
  BurstTarget* target_ = nullptr;  // instead of the memory
  const unsigned width_;
  std::uint64_t clock_ = 0;
  unsigned latency_ = 100;
  bool irregular_ = false;  // throttled, stalling or shared: the slow path
  unsigned stalled_ = 0;
  std::uint32_t stall_threshold_ = 0;
  std::uint64_t hang_from_ = kNever;
  std::uint64_t statistics_base_ = 0;  // bursts before the last clear_statistics()
  AxiPortStatistics statistics_;
  DramController* dram_ = nullptr;
  unsigned dram_port_ = 0;

 private:
  static constexpr unsigned kDrawBits = 21;  // three channels from one 64-bit draw
  static constexpr std::uint64_t kDrawMask = (1u << kDrawBits) - 1;

  void check_address(const char* channel, const AxiAddress& address) const {
    const unsigned beats = address.length + 1u;
    const std::uint64_t offset = address.address & (kBoundary - 1);
    if (beats > kMaxBeats || address.size != size_code_ || address.burst != 1 ||
        (address.address & (width_ - 1)) != 0 ||
        offset + std::uint64_t{beats} * width_ > kBoundary) {
      fail_address(channel, address);
    }
  }
  [[noreturn]] void fail_address(const char* channel, const AxiAddress& address) const;
  [[noreturn]] void fail_changed(const char* channel, const AxiAddress& now) const;
  void update_irregular();

  const std::string name_;
  std::uint8_t size_code_ = 0;  // log2(width)
  bool address_waits_ = false;
  AxiAddress waiting_address_;
  unsigned bytes_per_cycle_ = 0;
  unsigned credit_ = 0;
  std::uint32_t seed_ = 0;
  std::uint64_t random_state_ = 0;
  std::vector<Fault> faults_;
  bool upset_ = false;  // has any been asked for?
  std::array<AxiUpset, 3> upsets_{};
  MemoryArbiter* arbiter_ = nullptr;
  unsigned arbiter_port_ = 0;
};

}  // namespace gemm64

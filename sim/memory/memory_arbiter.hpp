// SPDX-License-Identifier: Apache-2.0
// One memory at several ports: whose turn it is, and the bytes that it carries.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "host/device/memory_timing.hpp"
#include "sim/memory/ring_buffer.hpp"

namespace gemm64 {

/// Shared: bursts of all ports move their beats in the order in which they were accepted; of bursts
/// accepted in one cycle, those of the port that joined first. Exclusive: addresses are accepted
/// from one port only, until it has all its answers; then it is the next port's turn that has an
/// address waiting. Either way at most one beat moves in a cycle.
class MemoryArbiter {
 public:
  /// `width`: bytes of a beat, the same at all ports. Throws std::invalid_argument for
  /// MemorySharing::kIndependent, which needs no arbiter.
  MemoryArbiter(MemorySharing sharing, unsigned width);

  /// Limits the data of all ports together; 0, or the width and above: a beat per cycle.
  void set_bytes_per_cycle(unsigned bytes);
  /// Adds a port and returns its number.
  unsigned join();
  /// Forgets every burst, as a hard reset does.
  void reset();

  // What ports ask and tell. Each calls begin_clock() first; the first call of a cycle counts.
  void begin_clock(std::uint64_t clock) {
    if (clock == clock_) return;
    clock_ = clock;
    if (bytes_per_cycle_ != 0) credit_ = credit_ < width_ ? credit_ + bytes_per_cycle_ : width_;
    if (sharing_ == MemorySharing::kExclusive && owner_ == kNobody) choose_owner();
  }
  bool may_accept(unsigned port) const {
    return sharing_ == MemorySharing::kShared || owner_ == port;
  }
  /// May a beat of the port's oldest burst move?
  bool may_move(unsigned port) {
    if (bytes_per_cycle_ != 0 && credit_ < width_) return false;
    if (sharing_ == MemorySharing::kExclusive) return owner_ == port;
    return !order_.empty() && order_.front() == port;
  }
  void waits(unsigned port, bool address_waits) { waiting_[port] = address_waits; }
  void accepted(unsigned port) {
    if (sharing_ == MemorySharing::kShared) {
      order_.push(port);
    } else {
      owner_ = port;
      ++unanswered_;
    }
  }
  void moved() {
    if (bytes_per_cycle_ != 0) credit_ -= width_;
  }
  /// The last beat of the port's oldest burst has moved.
  void complete() {
    if (sharing_ == MemorySharing::kShared) order_.pop();
  }
  /// The master has the answer to a burst: the last beat of a read, or a write's response.
  void answered() {
    if (sharing_ == MemorySharing::kExclusive && --unanswered_ == 0) owner_ = kNobody;
  }

 private:
  static constexpr unsigned kNobody = std::numeric_limits<unsigned>::max();

  void choose_owner();

  const MemorySharing sharing_;
  const unsigned width_;
  unsigned bytes_per_cycle_ = 0;
  unsigned credit_;
  std::uint64_t clock_ = std::numeric_limits<std::uint64_t>::max();
  RingBuffer<unsigned> order_;  // shared: the port of each burst whose beats have not all moved
  std::vector<bool> waiting_;   // by port: an address waits
  unsigned owner_ = kNobody;    // exclusive
  unsigned last_owner_ = 0;
  std::uint64_t unanswered_ = 0;  // bursts of the owner
};

}  // namespace gemm64

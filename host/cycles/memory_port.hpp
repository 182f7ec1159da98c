// SPDX-License-Identifier: Apache-2.0
// A port, and the memory behind it.
#pragma once

#include <algorithm>

#include "host/cycles/clock.hpp"
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

  /// First clock in which the next burst may be asked for, as far as the port is free.
  virtual Clock next_request() = 0;
  /// Will it never ask again?
  virtual bool all_requested() const { return false; }
  /// Asks for it in clock `at`: hands it to the port.
  virtual void ask(Clock at) = 0;
  /// The port has accepted it: has memory serve it.
  virtual void serve(MemoryPort& port) = 0;
};

/// A port, in front of which one request waits until memory accepts it. Memory serves them in the
/// order of accept().
class MemoryPort {
 public:
  /// In an in-order memory no beat of a write comes with its address. Ports in front of one memory
  /// share its budget.
  MemoryPort(Clock latency, bool in_order, Budget& budget)
      : latency_(latency), in_order_(in_order), budget_(budget) {}

  /// First clock in which a request can be handed to it: in which the one before is accepted.
  Clock free() const { return accepted_; }
  /// The request is accepted in clock `at`, at the earliest the one after it was handed over.
  void accept(Clock at) { accepted_ = at; }

  /// The request accepted last is a read of `beats`.
  Beats read(Clock beats) {
    const Beats moved = budget_.move(accepted_ + latency_, beats);
    answered_ = moved.last;
    return moved;
  }
  /// It is a write of `beats`, of which the first is there in clock `from`.
  Beats write(Clock from, Clock beats) {
    const Beats moved = budget_.move(std::max(from, accepted_ + (in_order_ ? 1 : 0)), beats);
    answered_ = std::max(std::max(accepted_, moved.last) + latency_, answered_ + 1);
    return moved;
  }
  /// Clock in which it was answered: the last beat of a read, the answer to a write.
  Clock answered() const { return answered_; }

 private:
  Clock latency_;
  bool in_order_;
  Budget& budget_;
  Clock accepted_ = 0;
  Clock answered_ = kNever;
};

}  // namespace gemm64::cycles

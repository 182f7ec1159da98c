// SPDX-License-Identifier: Apache-2.0
// Which request comes next, where ports or engines wait for each other.
#pragma once

#include <cstddef>
#include <vector>

#include "host/cycles/clock.hpp"
#include "host/cycles/memory_port.hpp"
#include "host/device/memory_timing.hpp"

namespace gemm64::cycles {

/// A port and the engines behind it; in the same clock, the first of them goes first.
struct PortUsers {
  MemoryPort& port;
  std::vector<Requester*> users;
};

/// The ports in front of one memory, in their order. A request goes when it is known that all
/// others come later.
class Arbiter {
 public:
  Arbiter(MemorySharing sharing, std::vector<PortUsers> ports);

  /// Lets all requests go of which that is known. Tells whether there was one.
  bool advance();

  /// Lets the earliest request go; to be called when no engine can advance. Then all that is not
  /// known waits for one of the requests that are, so it comes after the earliest of them. Tells
  /// whether there was one.
  bool advance_when_stuck() { return serve(true); }

 private:
  struct Candidate {
    Requester* user;
    Clock asked;  // clock in which it can be handed to the port
    Clock valid() const { return asked + 1; }
  };
  bool serve(bool stuck);
  std::size_t earliest() const;
  std::size_t next_owner();

  const bool exclusive_;
  std::vector<PortUsers> ports_;
  std::vector<Candidate> candidates_;  // of each port
  std::size_t owner_;                  // of an exclusive memory: the last
  Clock owned_since_ = 0;              // first clock in which it may be served
  Clock owned_until_ = kNever;         // the clock in which it has had all its answers
};

}  // namespace gemm64::cycles

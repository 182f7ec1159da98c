// SPDX-License-Identifier: Apache-2.0
// Which request comes next, where ports or engines wait for each other.
#pragma once

#include <cstddef>
#include <vector>

#include "host/cycles/cycle.hpp"
#include "host/cycles/memory_port.hpp"
#include "host/device/memory_timing.hpp"

namespace gemm64::cycles {

/// A port and its engines; in the same cycle, the first of them goes first.
struct PortUsers {
  MemoryPort& port;
  std::vector<Requester*> users;
};

/// The ports in front of one memory, in their order. Requests are handed over and accepted in the
/// order of their cycles: each when it is known that all others come later.
class Arbiter {
 public:
  Arbiter(MemorySharing sharing, const std::vector<PortUsers>& ports);

  /// Goes as far as is known. Returns whether that was any further.
  bool advance();

  /// Lets the earliest of what is known happen; to be called when no engine can advance. Then all
  /// that is not known waits for something that is, so it comes after the earliest of that. Returns
  /// whether there was anything.
  bool advance_when_stuck() { return step(true); }

 private:
  /// What comes next at a port: a request is handed over or, where one waits, accepted.
  struct Port {
    MemoryPort& memory;
    std::vector<Requester*> users;
    Requester* user = nullptr;  // whose request comes next
    Cycle asked = kUnknown;     // cycle in which it is handed over
    bool found = false;         // the two are so, whatever happens elsewhere
    bool elsewhere = false;     // it is handed to the other memory, and one to this no earlier
    Cycle valid() const { return asked + 1; }
    bool asks_other(const Requester& of) const {
      return of.asks_tensor_memory() != memory.of_tensor_memory();
    }
  };
  bool step(bool stuck);
  bool find_next(Port& port, bool stuck);
  Cycle asked_elsewhere() const;
  void accept(Port& port, Cycle at);
  bool accept_exclusively(Cycle before);

  const bool exclusive_;
  std::vector<Port> ports_;
  std::size_t owner_;           // of an exclusive memory: the last
  Cycle owned_until_ = kNever;  // the cycle in which it has had all its answers
};

}  // namespace gemm64::cycles

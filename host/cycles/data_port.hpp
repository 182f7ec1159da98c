// SPDX-License-Identifier: Apache-2.0
// The data port, which commands and activations share.
#pragma once

#include <algorithm>

#include "host/cycles/clock.hpp"

namespace gemm64::cycles {

class Activations;
class Commands;

/// A read port: takes a request a clock, answers in order, `latency` clocks later at the earliest.
class ReadPort {
 public:
  explicit ReadPort(Clock latency) : latency_(latency) {}

  /// First clock in which it takes another request.
  Clock free() const { return free_; }
  /// Takes a request in clock `asked`, not before free(). Returns the clock of its first beat.
  Clock serve(Clock asked, Clock beats) {
    free_ = asked + 1;
    const Clock first = std::max(asked + 1 + latency_, after_);
    after_ = first + beats;
    return first;
  }

 private:
  Clock latency_;
  Clock free_ = 0;
  Clock after_ = 0;  // the clock after the last beat
};

/// Decides who asks first. A request goes when it is known that the other asks later (in the same
/// clock, commands go before activations).
class DataPort {
 public:
  DataPort(Commands& commands, Activations& activations, Clock latency)
      : commands_(commands), activations_(activations), port_(latency) {}

  /// Lets all requests go of which that is known. Tells whether there was one.
  bool advance();

  /// Lets the earliest request go; to be called when no engine can advance. Then all that is not
  /// known waits for one of the requests that are, so it comes after the earliest of them. Tells
  /// whether there was one.
  bool advance_when_stuck();

 private:
  bool request(bool stuck);

  Commands& commands_;
  Activations& activations_;
  ReadPort port_;
};

}  // namespace gemm64::cycles

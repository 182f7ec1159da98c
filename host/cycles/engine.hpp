// SPDX-License-Identifier: Apache-2.0
// What the engines have in common: a queue of commands in front, cycles to account for.
#pragma once

#include <cstddef>
#include <optional>

#include "host/cycles/cycle.hpp"
#include "host/cycles/ledger.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/slots.hpp"
#include "host/device/registers.hpp"

namespace gemm64::cycles {

/// A command that cannot go on, and why not.
struct Blocked {
  std::size_t command;  // index in the program
  const char* waits_for;
};

/// An engine to which commands are dispatched. It goes through its events in order, each as soon as
/// the clock of all that it waits for is known.
class EngineModel {
 public:
  explicit EngineModel(Counters& counters) : ledger_(counters) {}
  EngineModel(const EngineModel&) = delete;
  EngineModel& operator=(const EngineModel&) = delete;
  virtual ~EngineModel() = default;

  /// First cycle in which a command may be dispatched to the engine: two wait in its queue.
  Cycle room() const { return places_.room(); }
  /// Command number `index` is dispatched in cycle `at`. It stays where it is.
  void accept(const Command& command, std::size_t index, Cycle at) {
    places_.begin();
    queue_.push({&command, index, at + 1});
  }

  /// Goes as far as is known. Returns whether that was any further.
  virtual bool advance() = 0;
  /// First cycle in which nothing of the commands so far is left to do; kUnknown before.
  virtual Cycle idle() const = 0;
  /// Accounts for the cycles up to `total`, the number of all.
  virtual void finish(Cycle total) = 0;
  /// Is nothing left to do of its commands so far? Then the cycles to come are accounted for as
  /// those of finish() are, until it sees another command.
  virtual bool waits_for_command() const = 0;
  /// As the Ledger's.
  void keep_history(const Rate& rate) { ledger_.keep_history(rate); }
  Cycle accounted() const { return ledger_.accounted(); }
  void count_before(Cycle clock, Counters& counters) { ledger_.count_before(clock, counters); }
  void forget(Cycle before) { ledger_.forget(before); }
  /// A cycle before which nothing of it happens that is not known yet: no command leaves its queue,
  /// no STORE is answered.
  virtual Cycle not_before() const = 0;
  /// The current command and what it waits for, where it waits; asked when no engine advances.
  virtual std::optional<Blocked> blocked() = 0;

 protected:
  struct Order {
    const Command* command;
    std::size_t index;
    Cycle seen;  // clock in which the engine sees it
  };

  bool has_order() const { return !queue_.empty(); }
  const Order& order() const { return queue_.front(); }
  /// The oldest command leaves the queue in cycle `at`.
  void leave_queue(Cycle at) {
    places_.end(at);
    queue_.pop();
  }

  Ledger ledger_;

 private:
  static constexpr std::size_t kPlaces = 2;

  Queue<Order> queue_;
  Slots places_{kPlaces};
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// What the engines have in common: a queue of commands in front, clocks to account for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/cycles/bursts.hpp"
#include "host/cycles/clock.hpp"
#include "host/cycles/ledger.hpp"
#include "host/cycles/queue.hpp"
#include "host/cycles/shapes.hpp"
#include "host/cycles/slots.hpp"
#include "host/cycles/state.hpp"
#include "host/device/registers.hpp"

namespace gemm64::cycles {

/// A command that cannot go on, and why not.
struct Blocked {
  std::size_t command;  // index in the program
  const char* waits_for;
};

/// How an engine has gone on in its commands: a number for each step that depends on them.
using Steps = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kTaken = ~std::uint32_t{0};  // the engine's next command
inline constexpr std::uint32_t kWalkDone = kTaken - 1;
inline constexpr std::uint32_t kNoOrder = kTaken - 2;

/// A step that asks for the burst at hand.
inline std::uint32_t step_of(const BurstWalk& walk) {
  if (walk.done()) return kWalkDone;
  return static_cast<std::uint32_t>(walk.beats() << 2) | (walk.first() ? 2U : 0U) |
         (walk.last() ? 1U : 0U);
}

/// An engine to which commands are dispatched. It goes through its events in order, each as soon as
/// the clock of all that it waits for is known.
class EngineModel {
 public:
  explicit EngineModel(Counters& counters) : ledger_(counters) {}
  EngineModel(const EngineModel&) = delete;
  EngineModel& operator=(const EngineModel&) = delete;
  virtual ~EngineModel() = default;

  /// First clock in which a command may be dispatched to the engine: two wait in its queue.
  Clock room() const { return places_.room(); }
  /// Command number `index` is dispatched in clock `at`. It stays where it is.
  void accept(const Command& command, std::size_t index, Clock at) {
    places_.begin();
    queue_.push({&command, index, at + 1});
  }

  /// Goes as far as is known. Tells whether that was any further.
  virtual bool advance() = 0;
  /// First clock in which nothing of the commands so far is left to do; kUnknown before.
  virtual Clock idle() const = 0;
  /// Accounts for the clocks up to `total`, the number of all.
  virtual void finish(Clock total) = 0;
  /// Is nothing left to do of its commands so far? Then the cycles to come are accounted for as
  /// those of finish() are, until it sees another command.
  virtual bool waits_for_command() const = 0;
  /// As the Ledger's.
  void keep_history(const Rate& rate) { ledger_.keep_history(rate); }
  Clock accounted() const { return ledger_.accounted(); }
  Ledger& ledger() { return ledger_; }
  void count_before(Clock clock, Counters& counters) { ledger_.count_before(clock, counters); }
  void forget(Clock before) { ledger_.forget(before); }
  /// A cycle before which nothing of it happens that is not known yet: no command leaves its queue,
  /// no STORE is answered.
  virtual Clock not_before() const = 0;
  /// The command under way and what it waits for, where it waits; asked when no engine advances.
  virtual std::optional<Blocked> blocked() = 0;

  // States that are the same again (repeats.hpp).

  /// The first cycle in which something that does not wait for others happens to it; kUnknown where
  /// nothing does.
  virtual Clock next_event() = 0;
  /// Accounts for the cycles before `until`, as far as it waits in them. No event is before it.
  virtual void account(Clock until) = 0;
  /// Can its state be the same again?
  virtual bool has_state() const { return true; }
  virtual void state(State& state) = 0;
  /// Its commands, as indices of `program`.
  void know(const std::vector<Command>& program, const Shapes& shapes, Engine engine) {
    program_ = program.data();
    shapes_ = &shapes;
    commands_ = &shapes.of(engine);
  }
  /// Its steps from now on.
  void record() {
    recording_ = true;
    steps_.clear();
  }
  void stop_recording() { recording_ = false; }
  /// Those so far, with what the commands have next.
  Steps recorded() {
    Steps steps = steps_;
    steps.push_back(next_step());
    steps.push_back(has_order() && looks_at_order() ? shapes_->of(next_index()) : kNoOrder);
    return steps;
  }
  /// Goes on in its commands by the same steps, which changes no state. Returns whether they have
  /// these steps next; otherwise drop_position() has to follow.
  virtual bool follow(const Steps& steps) = 0;
  virtual void keep_position() { kept_ = taken_; }
  virtual void drop_position() { taken_ = kept_; }

 protected:
  struct Order {
    const Command* command;
    std::size_t index;
    Clock seen;  // clock in which the engine sees it
  };

  bool has_order() const { return !queue_.empty(); }
  const Order& order() const { return queue_.front(); }
  /// The oldest command leaves the queue in clock `at`.
  void leave_queue(Clock at) {
    places_.end(at);
    queue_.pop();
    ++taken_;
  }

  void step(std::uint32_t step) {
    if (recording_) steps_.push_back(step);
  }
  virtual std::uint32_t next_step() const = 0;
  /// Does what happens next depend on what its oldest command is?
  virtual bool looks_at_order() const = 0;
  /// Its next command is begun.
  void step_command() {
    if (!recording_) return;
    step(kTaken);
    step(shapes_->of(next_index()));
  }
  /// Returns the next command if it has the shape of the step after `i`, which becomes that one.
  const Command* follow_command(const Steps& steps, std::size_t& i) const {
    if (taken_ == commands_->size() || shapes_->of(next_index()) != steps[++i]) return nullptr;
    return &program_[next_index()];
  }
  std::size_t next_index() const { return (*commands_)[taken_]; }
  /// The steps that end_of() leaves, and those at its end: what the commands have next.
  static std::size_t end_of(const Steps& steps) { return steps.size() - 2; }
  bool ends_as(const Steps& steps) const {
    if (next_step() != steps[end_of(steps)]) return false;
    return steps.back() == kNoOrder ||
           (taken_ < commands_->size() && shapes_->of(next_index()) == steps.back());
  }
  const Command* next_command() const { return &program_[next_index()]; }
  std::size_t last_index() const { return taken_ == 0 ? 0 : (*commands_)[taken_ - 1]; }
  void skip_command() { ++taken_; }
  void common_state(State& state) {
    places_.state(state);
    ledger_.state(state);
    std::size_t orders = queue_.size();
    state.number(orders);
    if (state.reads()) queue_.clear();
    for (std::size_t i = 0; i < orders; ++i) {
      const std::size_t index = (*commands_)[taken_ + i];
      if (i == 0 && looks_at_order()) state.note(shapes_->of(index));
      Order order = state.reads() ? Order{&program_[index], index, 0} : queue_[i];
      state.cycle(order.seen);
      if (state.reads()) queue_.push(order);
    }
  }

  Ledger ledger_;

 private:
  static constexpr std::size_t kPlaces = 2;

  Queue<Order> queue_;
  Slots places_{kPlaces};

  const Command* program_ = nullptr;
  const Shapes* shapes_ = nullptr;
  const std::vector<std::size_t>* commands_ = nullptr;
  std::size_t taken_ = 0, kept_ = 0;  // of them
  bool recording_ = false;
  Steps steps_;
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// The program: fetched ahead over the data port, then dispatched in order.
#pragma once

#include <cstddef>
#include <vector>

#include "host/cycles/engine.hpp"
#include "host/cycles/memory_port.hpp"
#include "host/cycles/results.hpp"
#include "host/cycles/ring.hpp"
#include "host/device/command_types.hpp"
#include "host/device/geometry.hpp"

namespace gemm64::cycles {

/// The engines to which commands go.
struct Engines {
  EngineModel& weights;
  EngineModel& activations;
  EngineModel& compute;
  EngineModel& parameters;
  EngineModel& operands;
  Results& results;
};

class Commands final : public Requester {
 public:
  /// Of `program`, which is in `ring`, those before number `end` are dispatched; the others are
  /// only fetched. `given`: the first cycle in which each is in the ring; empty where all are from
  /// the start.
  Commands(const std::vector<Command>& program, const Ring& ring, std::size_t end,
           const std::vector<std::uint64_t>& given, const Geometry& geometry,
           const Engines& engines, Counters& counters)
      : program_(program),
        ring_(ring),
        end_(end),
        given_(given),
        engines_(engines),
        beats_(static_cast<Cycle>(kCommandBytes / geometry.n)),
        places_(geometry.commands),
        ledger_(counters) {}

  Cycle next_request() override { return when_next(); }
  bool all_requested() const override { return requested_ == program_.size(); }
  void ask(Cycle /*at*/) override;
  void serve(MemoryPort& port) override;

  /// Dispatches as far as is known. Returns whether that was any further.
  bool advance();

  /// A command with which the counters are asked for, and the cycle in which it was dispatched.
  struct Snapshot {
    std::size_t command;
    Cycle at;
  };
  /// FENCEs that wrote them, and FINISHes.
  const std::vector<Snapshot>& snapshots() const { return snapshots_; }
  /// As the Ledger's. Counts the bytes of commands, too.
  void keep_history(const Rate& rate);
  void count_before(Cycle clock, Counters& counters);
  void forget(Cycle before) { ledger_.forget(before); }
  /// A cycle before which no command is dispatched that has not been.
  Cycle not_before() const;
  /// Is all known that it spends on the cycles before `clock`, and fetches in them?
  bool knows(Cycle clock) const;

  /// Has the last command been dispatched?
  bool done() const { return dispatched_ == end_; }
  /// The last of those that are dispatched.
  std::size_t last() const { return end_ - 1; }
  /// As an engine's.
  void finish(Cycle total) { ledger_.spend(counter::kCommandsIdle, total); }
  /// The cycle after the last dispatch.
  Cycle after_last() const { return free_; }
  /// The command that is next, and what it waits for.
  Blocked blocked() const;

 private:
  Cycle when_next() const {
    return all_requested() ? kUnknown : std::max(places_.room(), given(requested_));
  }
  EngineModel& engine(const Command& command) const;
  Cycle given(std::size_t command) const {
    return given_.empty() ? 0 : static_cast<Cycle>(given_[command]);
  }
  Cycle clear(const Command& command) const;
  Cycle passed(const FenceCommand& fence) const;
  void dispatch(const Command& command, Cycle at);

  const std::vector<Command>& program_;
  const Ring ring_;
  const std::size_t end_;
  const std::vector<std::uint64_t>& given_;
  Engines engines_;
  Cycle beats_;   // of a command
  Slots places_;  // for commands that are fetched ahead
  Ledger ledger_;
  Queue<Cycle> seen_;  // cycles in which the commands that are there can be dispatched
  std::size_t requested_ = 0, dispatched_ = 0;
  Cycle free_ = 0;          // first cycle in which nothing is dispatched yet
  std::size_t stores_ = 0;  // dispatched
  std::vector<Snapshot> snapshots_;

  bool keeps_history_ = false;
  Rate rate_;
  std::size_t served_ = 0;  // commands
  Queue<Beats> fetched_;    // of each command since the last count_before()
  Cycle past_beats_ = 0;    // of those before
};

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/commands.hpp"

#include <stdexcept>

#include "host/device/commands.hpp"
#include "host/device/snapshot.hpp"

namespace gemm64::cycles {

void Commands::ask(Cycle /*at*/) {
  ++requested_;
  places_.begin();
}

void Commands::serve(MemoryPort& port) {
  const Cycle last = port.read(ring_.address(served_), beats_, [this](const Beats& beats) {
    if (keeps_history_) fetched_.push(beats);
  });
  seen_.push(last + 1);
  ++served_;
}

void Commands::keep_history(const Rate& rate) {
  keeps_history_ = true;
  rate_ = rate;
  ledger_.keep_history(rate);
}

void Commands::count_before(Cycle clock, Counters& counters) {
  ledger_.count_before(clock, counters);
  for (; !fetched_.empty() && fetched_.front().last < clock; fetched_.pop()) {
    past_beats_ += fetched_.front().count;
  }
  Cycle beats = past_beats_;
  if (!fetched_.empty() && fetched_.front().first < clock) {
    beats += 1 + rate_.within(clock - 1 - fetched_.front().first, fetched_.front().left);
  }
  counters[counter::kBytesCommands] =
      static_cast<std::uint64_t>(beats) * kCommandBytes / static_cast<std::uint64_t>(beats_);
}

/// The next is asked for later where that is not known: all commands up to now are dispatched.
bool Commands::knows(Cycle clock) const {
  return ledger_.accounted() >= clock && served_ == requested_ && when_next() >= clock;
}

Cycle Commands::not_before() const {
  if (done() || known(clear(program_[dispatched_]))) return free_;
  const Command& command = program_[dispatched_];
  Cycle clock = free_;
  if (command.opcode == Opcode::kFence) return std::max(clock, engines_.results.not_before());
  if (command.opcode != Opcode::kFinish) return std::max(clock, engine(command).not_before());
  return clock;
}

bool Commands::advance() {
  bool moved = false;
  for (; !seen_.empty() && !done(); moved = true) {
    const Command& command = program_[dispatched_];
    const Cycle at = std::max({free_, seen_.front(), clear(command)});
    if (!known(at)) break;
    ledger_.spend(counter::kCommandsIdle, given(dispatched_));
    ledger_.spend(counter::kCommandsWaitMemory, seen_.front());
    ledger_.spend(counter::kCommandsWaitEngine, at);
    ledger_.spend(counter::kCommandsDispatch, at + 1);
    dispatch(command, at);
    seen_.pop();
    places_.end(at);
    ++dispatched_;
    free_ = at + 1;
  }
  return moved;
}

void Commands::dispatch(const Command& command, Cycle at) {
  const bool snapshot = is_snapshot(command);
  if (snapshot) engines_.results.take_snapshot();
  if (snapshot || command.opcode == Opcode::kFinish) snapshots_.push_back({dispatched_, at});
  if (is_store(command)) ++stores_;
  if (engine_of(command)) engine(command).accept(command, dispatched_, at);
}

/// First cycle in which nothing but its own way holds the command back.
Cycle Commands::clear(const Command& command) const {
  if (command.opcode == Opcode::kFence) return passed(FenceCommand(command));
  if (command.opcode != Opcode::kFinish) return engine(command).room();
  return std::max({engines_.weights.idle(), engines_.activations.idle(), engines_.compute.idle(),
                   engines_.parameters.idle(), engines_.operands.idle(), engines_.results.idle()});
}

/// First cycle in which as many STOREs are answered as a FENCE wants, and its snapshot has a place.
Cycle Commands::passed(const FenceCommand& fence) const {
  const std::size_t stores = stores_ - std::min<std::size_t>(stores_, fence.count);
  const Cycle answered = engines_.results.answered(stores);
  if (!is_snapshot(fence)) return answered;
  return std::max({answered, engines_.results.room(), engines_.results.snapshot_room()});
}

EngineModel& Commands::engine(const Command& command) const {
  switch (engine_of(command).value()) {
    case Engine::kWeights:
      return engines_.weights;
    case Engine::kActivations:
      return engines_.activations;
    case Engine::kCompute:
      return engines_.compute;
    case Engine::kParameters:
      return engines_.parameters;
    case Engine::kOperands:
      return engines_.operands;
    case Engine::kResults:
      return engines_.results;
    case Engine::kCommands:
      break;
  }
  throw std::logic_error("no engine takes the command");
}

Blocked Commands::blocked() const {
  switch (program_[dispatched_].opcode) {
    case Opcode::kFinish:
      return {dispatched_, "all others"};
    case Opcode::kFence:
      return {dispatched_, "STOREs before it"};
    default:
      return {dispatched_, "room in its engine's queue"};
  }
}

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/commands.hpp"

namespace gemm64::cycles {

void Commands::ask(Clock /*at*/) {
  ++requested_;
  places_.begin();
}

void Commands::serve(MemoryPort& port) { seen_.push(port.read(beats_).last + 1); }

bool Commands::advance() {
  bool moved = false;
  for (; !seen_.empty(); moved = true) {
    const Command& command = program_[dispatched_];
    const Clock at = std::max({free_, seen_.front(), clear(command)});
    if (!known(at)) break;
    ledger_.spend(counter::kCommandsWaitMemory, seen_.front());
    ledger_.spend(counter::kCommandsWaitEngine, at);
    ledger_.spend(counter::kCommandsDispatch, at + 1);
    if (command.opcode != Opcode::kFinish) engine(command.opcode).accept(command, dispatched_, at);
    seen_.pop();
    places_.end(at);
    ++dispatched_;
    free_ = at + 1;
  }
  return moved;
}

/// First clock in which nothing but its own way holds the command back.
Clock Commands::clear(const Command& command) const {
  if (command.opcode != Opcode::kFinish) return engine(command.opcode).room();
  return std::max({engines_.weights.idle(), engines_.activations.idle(), engines_.compute.idle(),
                   engines_.results.idle()});
}

EngineModel& Commands::engine(Opcode opcode) const {
  switch (opcode) {
    case Opcode::kLoadWeights:
      return engines_.weights;
    case Opcode::kLoadActivations:
      return engines_.activations;
    case Opcode::kMatmul:
      return engines_.compute;
    default:
      return engines_.results;
  }
}

Blocked Commands::blocked() const {
  const bool finish = program_[dispatched_].opcode == Opcode::kFinish;
  return {dispatched_, finish ? "all others" : "room in its engine's queue"};
}

}  // namespace gemm64::cycles

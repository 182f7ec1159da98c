// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/loads.hpp"

namespace gemm64::cycles {

bool LoadEngine::take() {
  if (!walk_.done() || !has_order()) return false;
  const Command& load = order().command;
  const bool activations = load.opcode == Opcode::kLoadActivations;
  walk_ = BurstWalk(load.address(), load.count, load.passes, activations ? load.blocks : 1,
                    geometry_.n, geometry_.burst_beats);
  load_ = order().index;
  seen_ = order().seen;
  asked_ = std::max(seen_, asked_ + 1);
  leave_queue(asked_);
  return true;
}

Clock LoadEngine::next_ask() const {
  return walk_.done() ? kUnknown : std::max(asked_ + 1, under_way_.room());
}

LoadEngine::Burst LoadEngine::ask(Clock at) {
  const Burst burst{seen_, at, next_beats()};
  asked_ = at;
  under_way_.begin();
  walk_.next();
  return burst;
}

Clock LoadEngine::idle() const {
  const Clock loaded = walk_.done() && !has_order() ? under_way_.empty() : kUnknown;
  return std::max(loaded, buffer_.empty());
}

std::optional<Blocked> LoadEngine::blocked() {
  if (walk_.done()) return std::nullopt;
  return Blocked{load_, "room for its words on the chip"};
}

}  // namespace gemm64::cycles

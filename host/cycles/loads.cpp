// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/loads.hpp"

namespace gemm64::cycles {

bool Loads::advance() {
  if (!walk_.done() || !has_order()) return false;
  walk_ = BurstWalk(walk_of(order().command, geometry_.n), geometry_.n, max_beats_);
  load_ = order().index;
  seen_ = order().seen;
  asked_ = std::max(seen_, asked_ + 1);
  leave_queue(asked_);
  return true;
}

Clock Loads::next_request() {
  if (walk_.done()) return kUnknown;
  return std::max(
      {asked_ + 1, under_way_.room(), buffer_.room(words_ + static_cast<Clock>(walk_.beats()))});
}

void Loads::ask(Clock at) {
  beats_ = static_cast<Clock>(walk_.beats());
  walk_.next();
  asked_ = at;
  words_ += beats_;
  under_way_.begin();
  ledger_.spend(causes_.idle, seen_);
  ledger_.spend(causes_.wait_room, at + 1);  // nothing was under way
}

void Loads::serve(MemoryPort& port) {
  const Beats words = port.read(beats_);
  under_way_.end(words.last);
  buffer_.fill(words);
  ledger_.spend(causes_.transfer, causes_.wait_memory, words);
}

Clock Loads::idle() const {
  const Clock loaded = walk_.done() && !has_order() ? under_way_.empty() : kUnknown;
  return std::max(loaded, buffer_.empty());
}

std::optional<Blocked> Loads::blocked() {
  if (walk_.done()) return std::nullopt;
  return Blocked{load_, "room for its words on the chip"};
}

}  // namespace gemm64::cycles

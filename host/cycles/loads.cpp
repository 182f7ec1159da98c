// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/loads.hpp"

#include "host/device/window_taps.hpp"

namespace gemm64::cycles {

/// First cycle in which the scratchpad can be used as the next LOAD wants it, and has room for its
/// pixels. It changes from words to pixels, or back, when it keeps nothing.
Cycle Loads::room() {
  const Command& command = *order().command;
  Cycle clock = 0;
  if (is_window(command) != window_) {
    clock = std::max(under_way_.empty(), window_ ? pixels_->empty() : buffer_.empty());
  }
  if (!is_window(command)) return clock;
  const LoadActivationsCommand load(command);
  if (load.place != 0) return clock;  // planes of the pixels before
  const bool start = (load.flags & flag::kStart) != 0;
  return std::max(clock, start ? pixels_->empty() : pixels_->room(load.rows, load.capacity));
}

bool Loads::advance() {
  if (!walk_.done() || !has_order()) return false;
  const Command& command = *order().command;
  const Cycle begin = std::max({order().seen, asked_ + 1, room()});
  if (!known(begin)) return false;
  window_ = is_window(command);
  if (window_) {
    const LoadActivationsCommand load(command);
    if (load.place == 0) pixels_->keep(load.rows);
  }
  walk_ = BurstWalk(walk_of(command, geometry_.n), geometry_.n, max_beats_);
  load_ = order().index;
  seen_ = order().seen;
  asked_ = begin;
  leave_queue(begin);
  return true;
}

Cycle Loads::next_request() {
  if (walk_.done()) return kUnknown;
  Cycle request = std::max(asked_ + 1, under_way_.room());
  if (asks_tensor_memory() != tensor_) request = std::max(request, under_way_.empty());
  if (window_) return request;
  return std::max(request, buffer_.room(words_ + static_cast<Cycle>(walk_.beats())));
}

void Loads::ask(Cycle at) {
  tensor_ = asks_tensor_memory();
  address_ = walk_.address();
  beats_ = static_cast<Cycle>(walk_.beats());
  walk_.next();
  asked_ = at;
  if (!window_) words_ += beats_;
  under_way_.begin();
  ledger_.spend(causes_.idle, seen_);
  ledger_.spend(causes_.wait_room, at + 1);  // no burst was in flight
}

void Loads::serve(MemoryPort& port) {
  under_way_.end(port.read(address_, beats_, [this](const Beats& words) {
    if (window_) {
      pixels_->fill(words);
    } else {
      buffer_.fill(words);
    }
    ledger_.spend(tensor_ ? causes_.bytes : causes_.transfer, causes_.wait_memory, words);
  }));
}

Cycle Loads::idle() const {
  const Cycle loaded = walk_.done() && !has_order() ? under_way_.empty() : kUnknown;
  return std::max({loaded, buffer_.empty(), pixels_ == nullptr ? 0 : pixels_->empty()});
}

std::optional<Blocked> Loads::blocked() {
  if (!walk_.done()) return Blocked{load_, "room for its words on the chip"};
  if (!has_order()) return std::nullopt;
  return Blocked{order().index, is_window(*order().command) == window_
                                    ? "room for its pixels in the scratchpad"
                                    : "the scratchpad to be empty"};
}

}  // namespace gemm64::cycles

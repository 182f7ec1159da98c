// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/results.hpp"

#include "host/device/result_format.hpp"

namespace gemm64::cycles {

bool Results::advance() {
  bool moved = false;
  while (take() || store_block()) moved = true;
  return moved;
}

bool Results::take() {
  if (!walk_.done() || !has_order()) return false;
  const Command& store = order().command;
  const std::uint64_t beats = std::uint64_t{store.rows} * ResultFormat::int32().beats_per_row();
  walk_ = BurstWalk(store.address(), beats, 1, store.count, geometry_.n, geometry_.burst_beats);
  store_ = order().index;
  seen_ = order().seen;
  const Clock taken = std::max(seen_, listed_);
  leave_queue(taken);
  listed_ = taken + 1;
  return true;
}

/// Without a STORE the engine waits for answers, then idles.
void Results::wait_for_work(Clock until) {
  ledger_.spend(counter::kResultsWaitResponse, std::min(until, answered_));
  ledger_.spend(counter::kResultsIdle, until);
}

bool Results::store_block() {
  if (walk_.done()) return false;
  const Clock complete = banks_.complete();
  if (!known(complete)) return false;

  wait_for_work(seen_);
  for (bool first = true, last = false; !last; first = false) {
    const auto beats = static_cast<Clock>(walk_.beats());
    last = walk_.last();
    walk_.next();
    const Clock here = first ? std::max(listed_, complete) : listed_;
    const Clock asked = std::max({here, data_.room(), answers_.room()});
    // The block's first row is read before it is sent, later ones while others are.
    const Clock beat = std::max(asked + 1, free_) + (first ? 1 : 0);
    ledger_.spend(counter::kResultsWaitCompute, here);
    ledger_.spend(counter::kResultsWaitMemory, asked);
    ledger_.spend(counter::kResultsWaitCompute, beat);
    ledger_.spend(counter::kResultsTransfer, beat + beats);
    listed_ = asked + 1;
    free_ = beat + beats;
    answered_ = std::max(std::max(asked + 1, free_ - 1) + latency_, answered_) + 1;
    data_.begin();
    data_.end(free_ - 1);
    answers_.begin();
    answers_.end(answered_ - 1);
  }
  banks_.stored(free_ - 1);
  return true;
}

Clock Results::idle() const { return walk_.done() && !has_order() ? answered_ : kUnknown; }

std::optional<Blocked> Results::blocked() {
  if (walk_.done()) return std::nullopt;
  return Blocked{store_, "a finished block"};
}

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/results.hpp"

#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"

namespace gemm64::cycles {

bool Results::advance() {
  if (!walk_.done() || !has_order()) return false;
  const Command& store = order().command;
  snapshot_ = store.opcode == Opcode::kFence;
  if (!snapshot_) beats_per_row_ = ResultFormat::of(store)->beats_per_row();
  walk_ = BurstWalk(walk_of(store, geometry_.n), geometry_.n, geometry_.burst_beats);
  store_ = order().index;
  rows_ = store.rows;
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

/// First clock in which what the next burst sends is there.
Clock Results::here() const {
  return begins_block() ? std::max(listed_, banks_.complete()) : listed_;
}

Clock Results::next_request() {
  return walk_.done() ? kUnknown : std::max({here(), data_.room(), answers_.room()});
}

void Results::ask(Clock at) {
  // Rows are read while others are sent, a block's first in the block before where its burst has
  // been asked for.
  Clock valid = std::max(at + 1, free_);
  if (begins_block()) {
    const Clock read = std::max(at + 2, block_free_);  // first row; snapshots do not delay that
    banks_.store(read, rows_, beats_per_row_);
    valid = std::max(read, free_);
  }
  burst_ = {valid, static_cast<Clock>(walk_.beats()), snapshot_, walk_.last(), false};
  wait_for_work(seen_);
  ledger_.spend(counter::kResultsWaitCompute, here());
  ledger_.spend(counter::kResultsWaitMemory, at);
  ledger_.spend(counter::kResultsWaitCompute, valid);
  walk_.next();
  burst_.ends_store = walk_.done() && !snapshot_;
  listed_ = at + 1;
  data_.begin();
  answers_.begin();
}

void Results::serve(MemoryPort& port) {
  const Beats beats = port.write(burst_.valid, burst_.beats);
  ledger_.spend(counter::kResultsTransfer, counter::kResultsWaitMemory, beats);
  free_ = beats.last + 1;
  answered_ = port.answered() + 1;
  data_.end(beats.last);
  answers_.end(port.answered());
  if (burst_.ends_store) stored_.push_back(port.answered());
  if (burst_.of_snapshot) {
    if (burst_.ends_pass) snapshots_.end(beats.last);
    return;
  }
  banks_.send(beats);
  block_free_ = free_;
  if (burst_.ends_pass) banks_.stored();
}

Clock Results::answered(std::size_t stores) const {
  if (stores == 0) return 0;
  return stores <= stored_.size() ? stored_[stores - 1] + 1 : kUnknown;
}

Clock Results::idle() const { return walk_.done() && !has_order() ? answers_.empty() : kUnknown; }

std::optional<Blocked> Results::blocked() {
  if (walk_.done() || snapshot_) return std::nullopt;
  return Blocked{store_, "a finished block"};
}

}  // namespace gemm64::cycles

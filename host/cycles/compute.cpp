// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/compute.hpp"

namespace gemm64::cycles {

bool Compute::advance() {
  bool moved = false;
  while (take() || start_tile() || enter_rows()) moved = true;
  return moved;
}

bool Compute::take() {
  if (walk_ || !has_order()) return false;
  walk_.emplace(order().command);
  wait_for_work(order().seen);
  free_ = std::max(free_, order().seen);
  return true;
}

/// Without a MATMUL the array drains, then idles.
void Compute::wait_for_work(Clock until) {
  ledger_.spend(counter::kComputeDrain, std::min(until, drained_));
  ledger_.spend(counter::kComputeIdle, until);
}

Compute::Ready Compute::ready() {
  const Clock words = activation_words_ + static_cast<Clock>(walk_->first_word()) + walk_->rows();
  return {std::max(columns_, memories_.weights.holds(weight_words_ + n_)),
          memories_.scratchpad.holds(words),
          walk_->begins_block() ? memories_.banks.room(0) : memories_.banks.room()};
}

bool Compute::start_tile() {
  if (!walk_ || row_ != 0) return false;
  const Ready ready = this->ready();
  const Clock start = std::max({free_, ready.weights, ready.activations, ready.bank});
  if (!known(start)) return false;

  ledger_.spend(counter::kComputeWaitWeights, ready.weights);
  ledger_.spend(counter::kComputeWaitActivations, ready.activations);
  ledger_.spend(counter::kComputeWaitResults, ready.bank);
  columns_ = start + n_;
  memories_.weights.free(start, n_);
  weight_words_ += n_;
  enter(start, 1);
  return true;
}

void Compute::enter(Clock at, Clock rows) {
  if (walk_->releases()) memories_.scratchpad.free(at, rows);
  free_ = at + rows;
  ledger_.spend(counter::kComputeCompute, free_);
  row_ += rows;
}

/// The tile's rows behind its first. They follow each other without a gap, but those that begin new
/// sums do not overtake the store of the old ones.
bool Compute::enter_rows() {
  if (row_ == 0) return false;
  const Clock rows = walk_->rows();
  bool moved = false;
  if (!walk_->begins_block() || memories_.banks.room() <= free_) {
    if (row_ != rows) enter(free_, rows - row_);
  } else {
    for (; row_ != rows; moved = true) {
      const Clock at = std::max(free_, memories_.banks.room(row_));
      if (!known(at)) return moved;
      ledger_.spend(counter::kComputeWaitResults, at);
      enter(at, 1);
    }
  }
  drained_ = free_ + pipeline_;
  row_ = 0;
  if (walk_->ends_block()) memories_.banks.complete(drained_);
  walk_->next();
  if (walk_->done()) {
    activation_words_ += static_cast<Clock>(walk_->first_word());
    walk_.reset();
    leave_queue(free_ - 1);
  }
  return true;
}

Clock Compute::idle() const {
  return walk_ || has_order() ? kUnknown : std::max(drained_, memories_.banks.empty());
}

std::optional<Blocked> Compute::blocked() {
  if (!walk_ || row_ != 0) return std::nullopt;
  const Ready ready = this->ready();
  return Blocked{order().index, !known(ready.weights)       ? "weights"
                                : !known(ready.activations) ? "activations"
                                                            : "a free accumulator bank"};
}

}  // namespace gemm64::cycles

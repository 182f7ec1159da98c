// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/compute.hpp"

#include <algorithm>

#include "host/device/window_taps.hpp"

namespace gemm64::cycles {
namespace {

constexpr Cycle kLanesPipeline = 4;    // from a part of a sum to the write of the sum
constexpr Cycle kPlanesOfWeights = 2;  // that the lanes hold
constexpr Cycle kWeightsDelay = 2;     // from the read of a plane's last word to its first product

}  // namespace

bool Compute::advance() {
  bool moved = false;
  while (take() || start_tile() || enter_rows() || read_weights() || move_lanes()) moved = true;
  return moved;
}

bool Compute::take() {
  if (walk_ || lanes_ || !has_order()) return false;
  const Command& command = *order().command;
  free_ = std::max(free_, order().seen);
  if (command.opcode == Opcode::kSetWindow) {
    const SetWindowCommand set(command);
    layer_ = {taps_of(set), set.group_passes};
    leave_queue(free_);
    wait_for_work(++free_);
    return true;
  }
  if (command.opcode == Opcode::kDepthwise) {
    begin_lanes(DepthwiseCommand(command));
    return true;
  }
  const MatmulCommand matmul(command);
  window_ = is_window(matmul);
  walk_.emplace(matmul, window_ ? layer_.taps : 1);
  if (window_) {
    new_pixels_ = matmul.new_pixels;
    freed_pixels_ = matmul.freed_pixels;
    tap_ = {};
    loaded_ = free_ + 1;
  }
  wait_for_work(order().seen);
  return true;
}

/// Without a MATMUL the array drains, then idles.
void Compute::wait_for_work(Cycle until) {
  ledger_.spend(counter::kComputeDrain, std::min(until, drained_));
  ledger_.spend(counter::kComputeIdle, until);
}

/// Words of pixels that the next tile of a window claims: a plane's with its first tap, in the
/// first pass that reads the plane.
Cycle Compute::claimed() const { return tap_.tap == 0 && tap_.pass == 0 ? new_pixels_ : 0; }

/// The first tile of a MATMUL, or a DEPTHWISE, starts; at the next tile, another one is watched
/// for.
void Compute::note_start(Cycle start) {
  if (starts_.size() < watched_.size() && watched_[starts_.size()] == order().index) {
    starts_.push_back(start);
  }
}

/// First cycle in which `words` words of weights have come. Words that were read have.
Cycle Compute::holds_weights(Cycle words) {
  return words <= weights_read_ ? 0 : memories_.weights.holds(words);
}

Compute::Ready Compute::ready() {
  const Cycle words = activation_words_ + static_cast<Cycle>(walk_->first_word()) + walk_->rows();
  return {std::max(columns_, holds_weights(weight_words_ + n_)),
          window_ ? std::max(loaded_, memories_.pixels.holds(pixel_words_ + claimed()))
                  : memories_.scratchpad.holds(words),
          walk_->begins_block() ? memories_.banks.room(0)
                                : memories_.banks.last_room(fills_both_banks() ? 1 : 0)};
}

/// Tiles of the current block, the next of which starts in cycle `start`, that follow each other
/// as fast as the array takes them, since all that they wait for is there.
Cycle Compute::tiles_that_follow(Cycle start) const {
  if (walk_->begins_block()) return 1;
  Cycle tiles = walk_->left_in_block();
  // In the first pass over a plane its first tile claims pixels.
  if (window_ && tap_.pass == 0) tiles = std::min<Cycle>(tiles, layer_.taps - tap_.tap);
  const Cycle rows = walk_->rows(), step = std::max(rows, n_);
  const Cycle again = (weights_read_ - weight_words_) / n_;  // tiles that were retained
  tiles = again > 0 ? std::min(tiles, again)
                    : memories_.weights.groups(weight_words_, n_, start, step, tiles);
  if (window_) return tiles;
  const Cycle words = activation_words_ + static_cast<Cycle>(walk_->first_word());
  return memories_.scratchpad.groups(words, rows, start, step, tiles);
}

bool Compute::start_tile() {
  if (!walk_ || row_ != 0) return false;
  const Ready ready = this->ready();
  const Cycle start = std::max({free_, ready.weights, ready.activations, ready.bank});
  if (!known(start)) return false;
  note_start(start);

  ledger_.spend(counter::kComputeWaitWeights, ready.weights);
  ledger_.spend(counter::kComputeWaitActivations, ready.activations);
  ledger_.spend(counter::kComputeWaitResults, ready.bank);
  const Cycle tiles = tiles_that_follow(start), rows = walk_->rows(), step = std::max(rows, n_);
  columns_ = start + (tiles - 1) * step + n_;
  if (walk_->releases_weights()) memories_.weights.free(start, n_, step, tiles);
  weight_words_ += tiles * n_;
  weights_read_ = std::max(weights_read_, weight_words_);
  if (window_) pixel_words_ += claimed();
  if (walk_->begins_block()) {
    enter(start, 1);
    return true;
  }
  if (!window_ && walk_->releases()) memories_.scratchpad.free(start, rows, step, tiles);
  free_ = start + (tiles - 1) * step + rows;
  ledger_.spend(counter::kComputeCompute, counter::kComputeWaitWeights, rows, step, tiles);
  if (window_) tap_.tap = static_cast<std::uint32_t>((tap_.tap + tiles - 1) % layer_.taps);
  walk_->skip(static_cast<std::uint32_t>(tiles - 1));
  end_tile();
  return true;
}

void Compute::enter(Cycle at, Cycle rows) {
  if (!window_ && walk_->releases()) memories_.scratchpad.free(at, rows);
  free_ = at + rows;
  ledger_.spend(counter::kComputeCompute, free_);
  row_ += rows;
  if (row_ == bank_rows_ && fills_both_banks() && walk_->ends_block()) complete_first(free_);
}

/// The rows of the first bank are complete, the last of which entered in the cycle before `at`.
void Compute::complete_first(Cycle at) {
  memories_.banks.complete(at + pipeline_);
  completed_ = 1;
}

/// The rows after the first of a tile that begins new sums. They follow each other without a gap,
/// but do not overtake the store of the old ones.
bool Compute::enter_rows() {
  if (row_ == 0) return false;
  const Cycle rows = walk_->rows();
  for (bool moved = false; row_ != rows; moved = true) {
    const Cycle ahead = row_ / bank_rows_ - completed_, row = row_ % bank_rows_;
    const Cycle left = std::min(rows - row_, bank_rows_ - row);  // of the bank
    if (memories_.banks.last_room(ahead) <= free_) {
      enter(free_, left);
      continue;
    }
    const Cycle at = std::max(free_, memories_.banks.room(row, ahead));
    if (!known(at)) return moved;
    ledger_.spend(counter::kComputeWaitResults, at);
    enter(at, std::min(left, memories_.banks.stretch(row, ahead)));
  }
  end_tile();
  return true;
}

void Compute::end_tile() {
  drained_ = free_ + pipeline_;
  row_ = 0;
  if (walk_->ends_block()) {
    if (fills_both_banks() && completed_ == 0) complete_first(free_ - (walk_->rows() - bank_rows_));
    memories_.banks.complete(drained_);
    completed_ = 0;
  }
  if (window_ && ++tap_.tap == layer_.taps) {
    tap_.tap = 0;
    if (walk_->ends_block() && ++tap_.pass == layer_.group_passes) tap_.pass = 0;
  }
  if (walk_->rewinds_weights()) weight_words_ -= static_cast<Cycle>(walk_->block_tiles()) * n_;
  walk_->next();
  if (walk_->done()) {
    if (window_) {
      memories_.pixels.free(freed_pixels_, free_ - 1);
    } else {
      activation_words_ += static_cast<Cycle>(walk_->first_word());
    }
    walk_.reset();
    leave_queue(free_ - 1);
  }
}

/// The array is empty when they do; it takes them a cycle.
void Compute::begin_lanes(const DepthwiseCommand& command) {
  free_ = std::max(free_, drained_) + 1;
  lanes_.emplace(Lanes{command, DepthwiseWalk(command), free_, 0, {}, {}, 0});
  wait_for_work(free_);
  note_start(free_);
}

/// The next word of weights. Those of two planes have room.
bool Compute::read_weights() {
  if (!lanes_) return false;
  const Cycle words = weight_words(lanes_->command), read = lanes_->weights_read;
  const Cycle plane = read / words;
  if (plane == lanes_->command.count) return false;
  Cycle at = std::max(lanes_->weights_free, holds_weights(weight_words_ + read + 1));
  if (read % words == 0 && plane >= kPlanesOfWeights) {
    const auto before = static_cast<std::size_t>(plane - kPlanesOfWeights);
    if (before >= lanes_->planes_end.size()) return false;
    at = std::max(at, lanes_->planes_end[before] + 1);
  }
  if (!known(at)) return false;
  memories_.weights.free(at, 1);
  lanes_->weights_free = at + 1;
  if (++lanes_->weights_read % words == 0) lanes_->weights_there.push_back(at + kWeightsDelay);
  return true;
}

Compute::Ready Compute::lanes_ready() {
  const DepthwiseWalk& walk = lanes_->walk;
  Ready ready{0, 0, 0};
  if (walk.sums()) {
    const std::size_t plane = walk.plane();
    ready.weights = plane < lanes_->weights_there.size() ? lanes_->weights_there[plane] : kUnknown;
    ready.bank = memories_.banks.room(lanes_->row);
  }
  if (walk.takes()) {
    ready.activations =
        memories_.scratchpad.holds(activation_words_ + static_cast<Cycle>(walk.words()) + 1);
  }
  return ready;
}

/// The lanes' next cycle.
bool Compute::move_lanes() {
  if (!lanes_) return false;
  const Ready ready = lanes_ready();
  const Cycle at = std::max({free_, ready.weights, ready.activations, ready.bank});
  if (!known(at)) return false;
  DepthwiseWalk& walk = lanes_->walk;
  ledger_.spend(counter::kComputeWaitWeights, ready.weights);
  ledger_.spend(counter::kComputeWaitActivations, ready.activations);
  ledger_.spend(counter::kComputeWaitResults, at);
  if (walk.takes()) memories_.scratchpad.free(at, 1);
  free_ = at + 1;
  ledger_.spend(counter::kComputeCompute, free_);
  if (walk.ends_row()) {
    drained_ = free_ + kLanesPipeline;
    const bool plane_end = walk.ends_plane();
    if (plane_end) lanes_->planes_end.push_back(at);
    if (++lanes_->row == lanes_->command.rows || plane_end) {
      lanes_->row = 0;
      memories_.banks.complete(drained_);
    }
  }
  walk.next();
  if (!walk.done()) return true;
  activation_words_ += static_cast<Cycle>(walk.words());
  weight_words_ += lanes_->weights_read;
  weights_read_ = std::max(weights_read_, weight_words_);
  lanes_.reset();
  leave_queue(at);
  return true;
}

Cycle Compute::idle() const {
  return walk_ || has_order() ? kUnknown : std::max({free_, drained_, memories_.banks.empty()});
}

std::optional<Blocked> Compute::blocked() {
  if (lanes_) {
    const Ready lanes = lanes_ready();
    return Blocked{order().index, !known(lanes.weights)       ? "weights"
                                  : !known(lanes.activations) ? "activations"
                                                              : "a free accumulator bank"};
  }
  if (!walk_ || row_ != 0) return std::nullopt;
  const Ready ready = this->ready();
  return Blocked{order().index, !known(ready.weights)       ? "weights"
                                : !known(ready.activations) ? "activations"
                                                            : "a free accumulator bank"};
}

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
#include "host/debug/tile_walk.hpp"

#include <fmt/format.h>

namespace gemm64 {

std::string to_string(const Tile& tile) { return fmt::format("{},{},{}", tile.m, tile.k, tile.n); }

Tile tile_counts(const Plan& plan) { return {plan.row_blocks(), plan.k_tiles, plan.n_tiles}; }

TileWalk::TileWalk(const Plan& plan) : plan_(&plan) { start_tile(); }

void TileWalk::start_tile() {
  row_.rows = plan_->groups[group_].rows;
  row_.first = plan_->accumulate == Accumulate::kHost || row_.tile.k == 0;
}

void TileWalk::skip_tile() {
  row_.row = row_.rows - 1;
  next();
}

void TileWalk::next() {
  if (++row_.row < row_.rows) return;
  row_.row = 0;
  const bool last_tile = ++row_.tile.k == plan_->k_tiles;
  if (last_tile || plan_->accumulate == Accumulate::kHost) {
    ++row_.result;
    row_.stored_before += row_.rows;
  }
  if (last_tile) {
    row_.tile.k = 0;
    if (++row_.tile.n == plan_->n_tiles) {
      row_.tile.n = 0;
      ++row_.tile.m;
      row_.first_row += row_.rows;
      if (++block_ == plan_->groups[group_].blocks) {
        block_ = 0;
        ++group_;
      }
    }
  }
  if (!done()) start_tile();
}

}  // namespace gemm64

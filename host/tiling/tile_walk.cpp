// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/tile_walk.hpp"

#include <fmt/format.h>

#include "host/device/depthwise.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64 {

std::string to_string(const TileIndex& tile) {
  return fmt::format("{},{},{}", tile.m, tile.k, tile.n);
}

TileIndex tile_counts(const Plan& plan) { return {plan.row_blocks(), plan.k_tiles, plan.n_tiles}; }

std::optional<TileIndex> tile_of(const Job& job, std::size_t command, std::uint64_t tile) {
  TileWalk walk(job);
  while (!walk.done() && walk.command() < command) walk.next();
  while (!walk.done() && walk.command() == command && tile != 0) {
    walk.next();
    --tile;
  }
  if (walk.done() || walk.command() != command) return std::nullopt;
  return walk.tile().tile;
}

TileWalk::TileWalk(const std::vector<Command>& program, const Plan* plan)
    : program_(&program), plan_(plan) {
  find_matmul();
}

void TileWalk::find_matmul() {
  matmul_.reset();
  while (!matmul_ && command_ < program_->size()) {
    const Command& command = (*program_)[command_++];
    if (command.opcode == Opcode::kSetWindow) taps_ = taps_of(SetWindowCommand(command));
    if (command.opcode == Opcode::kDepthwise) {
      MatmulCommand lanes;
      lanes.rows = static_cast<std::uint32_t>(depthwise_cycles(DepthwiseCommand(command)));
      lanes.count = lanes.passes = lanes.blocks = 1;
      matmul_.emplace(lanes, 1);
    }
    if (command.opcode != Opcode::kMatmul) continue;
    const MatmulCommand matmul(command);
    matmul_.emplace(matmul, is_window(matmul) ? taps_ : 1);
  }
  if (!matmul_) return;
  load_step();
  find_first_row();
}

/// Blocks of a convolution that is cut into strips do not follow each other.
void TileWalk::find_first_row() {
  if (plan_ == nullptr) return;
  std::uint64_t before = 0;
  for (const RowGroup& group : plan_->groups) {
    if (step_.tile.m < before + group.blocks) {
      step_.first_row = group.first_row + (step_.tile.m - before) * group.rows;
      return;
    }
    before += group.blocks;
  }
}

void TileWalk::load_step() {
  step_.tile = {blocks_before_ + matmul_->m(), matmul_->k(), matmul_->n()};
  if (plan_ != nullptr && plan_->has_bands()) {
    const auto [block, pass] = plan_->window->strips[0].plan.place_in_bands(blocks_before_);
    step_.tile = {block, matmul_->k(), pass};
  }
  step_.rows = matmul_->rows();
  step_.begins_block = matmul_->begins_block();
  step_.ends_block = matmul_->ends_block();
}

void TileWalk::next() {
  if (step_.ends_block) {
    ++step_.result;
    step_.stored_before += step_.rows;
  }
  const std::uint32_t m = matmul_->m();
  matmul_->next();
  if (matmul_->m() != m) step_.first_row += step_.rows;
  if (matmul_->done()) {
    blocks_before_ += matmul_->m();
    find_matmul();
  } else {
    load_step();
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/tile_walk.hpp"

#include <fmt/format.h>

#include "host/device/depthwise.hpp"
#include "host/device/window_taps.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {

std::string to_string(const TileIndex& tile) {
  return fmt::format("{},{},{}", tile.m, tile.k, tile.n);
}

namespace {

/// Blocks of sums, each in a bank of the accumulator.
std::uint64_t result_blocks(const DepthwiseCommand& command) {
  return command.count * divide_up(image_rows(command) * command.passes, command.rows);
}

}  // namespace

TileIndex tile_counts(const Job& job) {
  const Plan& plan = job.plan;
  TileIndex counts{job.stripes.empty() ? plan.row_blocks() : 0, plan.k_tiles, plan.n_tiles};
  for (const JobStripe& stripe : job.stripes) counts.m += stripe.plan.row_blocks();
  return counts;
}

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

TileWalk::TileWalk(const Job& job)
    : program_(&job.program),
      bank_rows_(job.plan.bank_rows()),
      plan_(job.plan.window ? &job.plan : nullptr),
      job_(&job) {
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
      result_blocks_ = result_blocks(DepthwiseCommand(command));
    }
    if (command.opcode != Opcode::kMatmul) continue;
    const MatmulCommand matmul(command);
    matmul_.emplace(matmul, is_window(matmul) ? taps_ : 1);
    result_blocks_ = 1;
  }
  if (!matmul_) return;
  if (job_ != nullptr) enter_stripes();
  load_step();
  find_first_row();
}

void TileWalk::enter_stripes() {
  const std::vector<JobStripe>& stripes = job_->stripes;
  for (; stripes_ < stripes.size() && stripes[stripes_].first_command <= command(); ++stripes_) {
    if (stripes_ != 0) first_block_ += stripes[stripes_ - 1].plan.row_blocks();
    first_matmul_block_ = blocks_before_;
    if (plan_ != nullptr) plan_ = &stripes[stripes_].plan;
  }
}

/// Blocks of a convolution that is cut into strips do not follow each other.
void TileWalk::find_first_row() {
  if (plan_ == nullptr) return;
  std::uint64_t before = first_block_;
  const std::uint64_t stripe = stripes_ == 0 ? 0 : job_->stripes[stripes_ - 1].first_row;
  for (const RowGroup& group : plan_->groups) {
    if (step_.tile.m < before + group.blocks) {
      step_.first_row = stripe + group.first_row + (step_.tile.m - before) * group.rows;
      return;
    }
    before += group.blocks;
  }
}

void TileWalk::load_step() {
  const std::uint64_t before = blocks_before_ - first_matmul_block_;  // of the stripe
  step_.tile = {first_block_ + before + matmul_->m(), matmul_->k(), matmul_->n()};
  if (plan_ != nullptr && plan_->has_bands()) {
    const auto [block, pass] = plan_->window->strips[0].plan.place_in_bands(before);
    step_.tile = {first_block_ + block, matmul_->k(), pass};
  }
  step_.rows = matmul_->rows();
  step_.begins_block = matmul_->begins_block();
  step_.ends_block = matmul_->ends_block();
}

void TileWalk::next() {
  if (step_.ends_block) {
    step_.result += step_.rows > bank_rows_ ? 2 : result_blocks_;
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

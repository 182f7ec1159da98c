// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/bursts.hpp"

#include <algorithm>

#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"

namespace gemm64 {

WordWalk walk_of(const Command& command, std::uint32_t array) {
  WordWalk walk;
  walk.address = command.address();
  switch (command.opcode) {
    case Opcode::kLoadActivations:
      walk.words = walk.block_step = command.rows;
      walk.runs = command.count;
      walk.run_step = command.stride;
      walk.passes = command.passes;
      walk.blocks = command.blocks;
      if (command.stride == command.rows && (command.flags & flag::kWindow) == 0) {
        walk.words *= walk.runs;
        walk.runs = 1;
      }
      break;
    case Opcode::kStore: {
      const std::uint64_t beats = ResultFormat::of(command).value().beats_per_row();
      walk.words = walk.block_step = command.rows * beats;
      walk.runs = command.count;
      walk.run_step = command.stride * beats;
      walk.blocks = command.blocks;
      break;
    }
    case Opcode::kFence:
      walk.words = snapshot_beats(array);
      break;
    default:
      walk.words = command.count;
      walk.passes = command.passes;
  }
  return walk;
}

BurstWalk::BurstWalk(const WordWalk& walk, std::uint32_t word_bytes, std::uint32_t max_beats)
    : walk_(walk),
      address_(walk.address),
      pass_address_(walk.address),
      run_address_(walk.address),
      left_(walk.words),
      runs_left_(walk.runs),
      passes_left_(walk.passes),
      blocks_left_(walk.blocks),
      word_bytes_(word_bytes),
      max_beats_(max_beats) {
  cut();
}

void BurstWalk::cut() {
  constexpr std::uint32_t kPage = 4096;
  const std::uint32_t to_boundary =
      (kPage - static_cast<std::uint32_t>(address_ % kPage)) / word_bytes_;
  beats_ = std::min(left_, std::uint64_t{std::min(to_boundary, max_beats_)});
}

void BurstWalk::next() {
  address_ += beats_ * word_bytes_;
  left_ -= beats_;
  if (left_ == 0) next_run();
  cut();
}

void BurstWalk::next_run() {
  left_ = walk_.words;
  if (--runs_left_ != 0) {
    run_address_ += walk_.run_step * word_bytes_;
  } else {
    runs_left_ = walk_.runs;
    if (--passes_left_ == 0) {
      passes_left_ = walk_.passes;
      pass_address_ += walk_.block_step * word_bytes_;
      --blocks_left_;
    }
    run_address_ = pass_address_;
  }
  address_ = run_address_;
}

}  // namespace gemm64

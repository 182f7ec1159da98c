// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/bursts.hpp"

#include <algorithm>

#include "host/device/commands.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"

namespace gemm64 {

WordWalk walk_of(const Command& command, std::uint32_t array) {
  const CommandFact& fact = *fact_of(command.opcode);
  const std::uint64_t beats =
      fact.of_format ? ResultFormat::of(command.format).value().beats_per_row() : 1;
  WordWalk walk;
  walk.address = command.address();
  walk.words = value_of(command, fact.run, snapshot_beats(array)) * beats;
  walk.runs = value_of(command, fact.runs);
  walk.run_step = value_of(command, fact.step, 0) * beats;
  walk.passes = value_of(command, fact.passes);
  walk.blocks = value_of(command, fact.blocks);
  if (fact.blocks != nullptr) walk.block_step = walk.words;
  const bool window = (command.flags & flag::kWindow) != 0;
  if (fact.operand == Operand::kActivations && walk.run_step == walk.words && !window) {
    walk.words *= walk.runs;
    walk.runs = 1;
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

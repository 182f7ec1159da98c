// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/bursts.hpp"

#include <algorithm>

namespace gemm64 {

BurstWalk::BurstWalk(std::uint64_t address, std::uint64_t count, std::uint64_t passes,
                     std::uint64_t blocks, std::uint32_t word_bytes, std::uint32_t max_beats)
    : block_address_(address),
      address_(address),
      count_(count),
      passes_(passes),
      blocks_(blocks),
      left_(count),
      passes_left_(passes),
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
  if (left_ == 0) next_pass();
  cut();
}

void BurstWalk::next_pass() {
  left_ = count_;
  if (--passes_left_ != 0) {
    address_ = block_address_;
  } else {
    passes_left_ = passes_;
    block_address_ = address_;
    --blocks_;
  }
}

}  // namespace gemm64

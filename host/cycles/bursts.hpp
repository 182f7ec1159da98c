// SPDX-License-Identifier: Apache-2.0
// The AXI bursts of a walk over memory, one after the other.
#pragma once

#include <cstdint>

namespace gemm64 {

/// BLOCKS blocks one after the other, each of COUNT words gone through PASSES times. A burst ends
/// at the longest burst, at a 4 KiB boundary and at the end of a pass.
class BurstWalk {
 public:
  /// A walk that is done.
  BurstWalk() = default;

  /// An address in bytes, counts in words of `word_bytes`, none of them zero.
  BurstWalk(std::uint64_t address, std::uint64_t count, std::uint64_t passes, std::uint64_t blocks,
            std::uint32_t word_bytes, std::uint32_t max_beats);

  bool done() const { return blocks_ == 0; }
  /// Words of the burst that comes next.
  std::uint64_t beats() const { return beats_; }
  /// Is it the first, or the last, of its pass?
  bool first() const { return left_ == count_; }
  bool last() const { return beats_ == left_; }
  void next();

 private:
  void cut();
  void next_pass();

  std::uint64_t block_address_ = 0, address_ = 0;
  std::uint64_t count_ = 0, passes_ = 0, blocks_ = 0, left_ = 0, passes_left_ = 0;
  std::uint64_t beats_ = 0;
  std::uint32_t word_bytes_ = 0, max_beats_ = 0;
};

}  // namespace gemm64

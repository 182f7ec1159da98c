// SPDX-License-Identifier: Apache-2.0
// The AXI bursts of a walk over memory, one after the other.
#pragma once

#include <cstdint>

namespace gemm64 {

/// BLOCKS blocks one after the other, each of COUNT words gone through PASSES times. A burst ends
/// at the longest burst, at a 4 KiB boundary and at the end of a pass.
class BurstWalk {
 public:
  /// An address in bytes, counts in words of `word_bytes`, none of them zero.
  BurstWalk(std::uint64_t address, std::uint64_t count, std::uint64_t passes, std::uint64_t blocks,
            std::uint32_t word_bytes, std::uint32_t most_beats);

  bool done() const { return blocks_ == 0; }
  /// Words of the burst that comes next.
  std::uint64_t beats() const;
  /// Is it the first, or the last, of its pass?
  bool first() const { return left_ == count_; }
  bool last() const { return beats() == left_; }
  void next();

 private:
  std::uint64_t block_address_, address_, count_, passes_, blocks_, left_, passes_left_;
  std::uint32_t word_bytes_, most_beats_;
};

}  // namespace gemm64

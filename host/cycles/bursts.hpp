// SPDX-License-Identifier: Apache-2.0
// The AXI bursts of a command, one after the other.
#pragma once

#include <cstdint>

#include "host/device/registers.hpp"

namespace gemm64 {

/// The words of a command in memory, in order: in each of `blocks` blocks, `passes` times, `runs`
/// runs of `words` words that follow each other. Counts are in words, none of them is zero.
struct WordWalk {
  std::uint64_t address = 0;  // in bytes
  std::uint64_t words = 1;
  std::uint64_t runs = 1, run_step = 0;  // words from a run to the next
  std::uint64_t passes = 1;
  std::uint64_t blocks = 1, block_step = 0;  // words from a block to the next
};

/// What a load, a STORE or a snapshot walks over on an array of size N. The tiles of a load are one
/// run where they are contiguous; those of a STORE and the planes of a window never are.
WordWalk walk_of(const Command& command, std::uint32_t array);

/// The bursts of such a walk. A burst ends at the longest burst, at a 4 KiB boundary and at the end
/// of a run.
class BurstWalk {
 public:
  /// A walk that is done.
  BurstWalk() = default;

  BurstWalk(const WordWalk& walk, std::uint32_t word_bytes, std::uint32_t max_beats);

  bool done() const { return blocks_left_ == 0; }
  /// Where the burst that comes next begins, in bytes; and its words.
  std::uint64_t address() const { return address_; }
  std::uint64_t beats() const { return beats_; }
  /// Is it the first, or the last, of its run?
  bool first() const { return left_ == walk_.words; }
  bool last() const { return beats_ == left_; }
  void next();

 private:
  void cut();
  void next_run();

  WordWalk walk_;
  std::uint64_t address_ = 0;  // of the burst
  std::uint64_t pass_address_ = 0, run_address_ = 0;
  std::uint64_t left_ = 0, runs_left_ = 0, passes_left_ = 0, blocks_left_ = 0;
  std::uint64_t beats_ = 0;
  std::uint32_t word_bytes_ = 0, max_beats_ = 0;
};

}  // namespace gemm64

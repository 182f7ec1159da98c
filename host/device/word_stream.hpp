// SPDX-License-Identifier: Apache-2.0
// The words that LOADs of one kind bring, one after the other.
#pragma once

#include <cstdint>
#include <deque>

#include "host/device/command_types.hpp"

namespace gemm64 {

/// Words in the order in which they come. Word numbers count from reset.
class WordStream {
 public:
  /// A LOAD, and the number of its command.
  void add(const LoadWeightsCommand& load, std::uint32_t tag) { add_words(load, tag); }
  void add(const LoadParametersCommand& load, std::uint32_t tag) { add_words(load, tag); }
  void add(const LoadActivationsCommand& load, std::uint32_t tag) { add_tiles(load, tag); }
  void add(const LoadOperandsCommand& load, std::uint32_t tag) { add_tiles(load, tag); }
  /// Words of all LOADs so far.
  std::uint64_t end() const { return end_; }
  /// Words that follow each other in memory, and the command that they belong to.
  struct Run {
    std::uint64_t address, words;
    std::uint32_t tag;
  };
  /// The run that begins with word number `word`, at most to the end of its pass.
  Run run(std::uint64_t word, std::uint32_t word_bytes) const;
  /// Drops LOADs of which no word from `word` on is left.
  void forget(std::uint64_t word);

  std::uint64_t arrived = 0;   // words that have come
  std::uint64_t read = 0;      // the next one to enter the array
  std::uint64_t released = 0;  // the first one that is kept

 private:
  struct Load {
    std::uint64_t first, words, address;
    // In each of its blocks, in each pass: this number of tiles, from one of which it is `stride`
    // words to the next.
    std::uint64_t tile_words, tiles, stride, passes;
    std::uint32_t tag;
  };
  void add(Load load, std::uint64_t blocks);
  template <typename Words>
  void add_words(const Words& load, std::uint32_t tag) {
    add({end_, 0, load.address, load.count, 1, 0, load.passes, tag}, 1);
  }
  template <typename Tiles>
  void add_tiles(const Tiles& load, std::uint32_t tag) {
    add({end_, 0, load.address, load.rows, load.count, load.stride, load.passes, tag}, load.blocks);
  }

  std::deque<Load> loads_;
  std::uint64_t end_ = 0;
};

}  // namespace gemm64

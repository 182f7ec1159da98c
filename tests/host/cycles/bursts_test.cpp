// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/bursts.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace gemm64 {
namespace {

struct Walk {
  std::uint64_t address, count, passes, blocks;
  std::uint32_t word_bytes, max_beats;
};

/// The addresses of all words in order, with a mark where a pass ends.
struct Word {
  std::uint64_t address;
  bool first, last;
};

std::vector<Word> words_of(const Walk& walk) {
  std::vector<Word> words;
  for (std::uint64_t block = 0; block < walk.blocks; ++block) {
    for (std::uint64_t pass = 0; pass < walk.passes; ++pass) {
      for (std::uint64_t i = 0; i < walk.count; ++i) {
        words.push_back({walk.address + (block * walk.count + i) * walk.word_bytes, i == 0,
                         i + 1 == walk.count});
      }
    }
  }
  return words;
}

// Greedy: a burst goes on until its length, a 4 KiB boundary or the end of the pass stops it.
void expect_bursts_cover(const Walk& walk) {
  const std::vector<Word> words = words_of(walk);
  BurstWalk bursts(walk.address, walk.count, walk.passes, walk.blocks, walk.word_bytes,
                   walk.max_beats);
  std::size_t at = 0;
  while (at < words.size()) {
    ASSERT_FALSE(bursts.done());
    std::size_t end = at + 1;
    while (end < words.size() && end - at < walk.max_beats && !words[end - 1].last &&
           words[end].address % 4096 != 0) {
      ++end;
    }
    ASSERT_EQ(bursts.beats(), end - at) << "burst from word " << at;
    ASSERT_EQ(bursts.first(), words[at].first);
    ASSERT_EQ(bursts.last(), words[end - 1].last);
    bursts.next();
    at = end;
  }
  EXPECT_TRUE(bursts.done());
}

TEST(BurstWalk, CoversEveryWordInLongestBursts) {
  for (const std::uint32_t word_bytes : {2u, 8u, 64u}) {
    for (const std::uint64_t page_offset : {0u, 1u, 63u}) {
      for (const std::uint64_t count : {1u, 2u, 63u, 64u, 65u, 130u}) {
        for (const std::uint64_t passes : {1u, 3u}) {
          for (const std::uint64_t blocks : {1u, 2u}) {
            SCOPED_TRACE(testing::Message()
                         << word_bytes << " bytes, offset " << page_offset << ", count " << count
                         << ", passes " << passes << ", blocks " << blocks);
            expect_bursts_cover(
                {4096 - page_offset * word_bytes, count, passes, blocks, word_bytes, 64});
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(BurstWalk, CoversRandomWalks) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::uint32_t word_bytes = 1u << (1 + random() % 6);
    expect_bursts_cover({random() % 10000 * word_bytes, 1 + random() % 300, 1 + random() % 4,
                         1 + random() % 4, word_bytes, 1u << random() % 7});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gemm64

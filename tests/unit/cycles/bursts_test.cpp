// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/bursts.hpp"

#include "host/device/result_format.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// The addresses of all words in order, with a mark where a run ends.
struct Word {
  std::uint64_t address;
  bool first, last;
};

std::vector<Word> words_of(const WordWalk& walk, std::uint32_t word_bytes) {
  std::vector<Word> words;
  for (std::uint64_t block = 0; block < walk.blocks; ++block) {
    for (std::uint64_t pass = 0; pass < walk.passes; ++pass) {
      for (std::uint64_t run = 0; run < walk.runs; ++run) {
        for (std::uint64_t i = 0; i < walk.words; ++i) {
          const std::uint64_t place = block * walk.block_step + run * walk.run_step + i;
          words.push_back({walk.address + place * word_bytes, i == 0, i + 1 == walk.words});
        }
      }
    }
  }
  return words;
}

// Greedy: a burst goes on until its length, a 4 KiB boundary or the end of the run stops it.
void expect_bursts_cover(const WordWalk& walk, std::uint32_t word_bytes, std::uint32_t max_beats) {
  const std::vector<Word> words = words_of(walk, word_bytes);
  BurstWalk bursts(walk, word_bytes, max_beats);
  std::size_t at = 0;
  while (at < words.size()) {
    ASSERT_FALSE(bursts.done());
    std::size_t end = at + 1;
    while (end < words.size() && end - at < max_beats && !words[end - 1].last &&
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
                {4096 - page_offset * word_bytes, count, 1, 0, passes, blocks, count}, word_bytes,
                64);
            expect_bursts_cover(
                {4096 - page_offset * word_bytes, count, 3, 70, passes, blocks, count}, word_bytes,
                64);
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
    WordWalk walk;
    walk.address = random() % 10000 * word_bytes;
    walk.words = 1 + random() % 300;
    walk.runs = 1 + random() % 4;
    walk.run_step = random() % 400;
    walk.passes = 1 + random() % 4;
    walk.blocks = 1 + random() % 4;
    walk.block_step = random() % 400;
    expect_bursts_cover(walk, word_bytes, 1u << random() % 7);
    if (HasFailure()) return;
  }
}

Command load(std::uint32_t rows, std::uint32_t count, std::uint32_t stride) {
  Command load;
  load.opcode = Opcode::kLoadActivations;
  load.rows = rows;
  load.count = count;
  load.passes = 2;
  load.blocks = 3;
  load.stride = stride;
  load.set_address(4096);
  return load;
}

// Blocks of M lie inside a tile, each a block's rows after the one before.
TEST(WalkOf, LoadsTheTilesOfABlockAtTheirStride) {
  const WordWalk walk = walk_of(load(5, 7, 15), 8);
  EXPECT_EQ(walk.address, 4096u);
  EXPECT_EQ(walk.words, 5u);
  EXPECT_EQ(walk.runs, 7u);
  EXPECT_EQ(walk.run_step, 15u);
  EXPECT_EQ(walk.passes, 2u);
  EXPECT_EQ(walk.blocks, 3u);
  EXPECT_EQ(walk.block_step, 5u);
}

TEST(WalkOf, LoadsTilesThatTouchAsOneRun) {
  const WordWalk walk = walk_of(load(5, 7, 5), 8);
  EXPECT_EQ(walk.words, 35u);
  EXPECT_EQ(walk.runs, 1u);
  EXPECT_EQ(walk.block_step, 5u);
}

// Each plane begins at a slot of its own.
TEST(WalkOf, LoadsThePlanesOfAWindowByThemselves) {
  Command planes = load(5, 7, 5);
  planes.flags = flag::kWindow;
  planes.passes = planes.blocks = 1;
  const WordWalk walk = walk_of(planes, 8);
  EXPECT_EQ(walk.words, 5u);
  EXPECT_EQ(walk.runs, 7u);
  EXPECT_EQ(walk.run_step, 5u);
}

TEST(WalkOf, StoresEachTileByItself) {
  Command store = load(5, 7, 5);
  store.opcode = Opcode::kStore;
  WordWalk walk = walk_of(store, 8);
  EXPECT_EQ(walk.words, 20u);  // beats of int32
  EXPECT_EQ(walk.runs, 7u);
  EXPECT_EQ(walk.run_step, 20u);
  EXPECT_EQ(walk.passes, 1u);
  EXPECT_EQ(walk.blocks, 3u);
  EXPECT_EQ(walk.block_step, 20u);
  store.format = ResultFormat(ResultCode::kUint8).number();
  walk = walk_of(store, 8);
  EXPECT_EQ(walk.words, 5u);
  EXPECT_EQ(walk.run_step, 5u);
}

}  // namespace
}  // namespace gemm64

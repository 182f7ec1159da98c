// SPDX-License-Identifier: Apache-2.0
#include "host/device/word_stream.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// Two passes of three tiles of two rows, ten words from one to the next, in each of two blocks.
LoadActivationsCommand tiles() {
  LoadActivationsCommand load;
  load.rows = 2;
  load.count = 3;
  load.stride = 10;
  load.passes = 2;
  load.blocks = 2;
  load.address = 1000;
  return load;
}

TEST(WordStream, FindsWordsByPassAndBlock) {
  WordStream stream;
  stream.add(tiles(), 7);
  EXPECT_EQ(stream.end(), 24U);
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t word = 0; word < stream.end(); ++word) {
    const WordStream::Run run = stream.run(word, 1);
    EXPECT_EQ(run.tag, 7U);
    EXPECT_EQ(run.words, 2 - word % 2) << "to the end of its tile";
    addresses.push_back(run.address - 1000);
  }
  const std::vector<std::uint64_t> pass = {0, 1, 10, 11, 20, 21};
  std::vector<std::uint64_t> expected;
  for (const std::uint64_t block : {0, 0, 2, 2}) {  // each pass is read again
    for (const std::uint64_t word : pass) expected.push_back(block + word);
  }
  EXPECT_EQ(addresses, expected);
  EXPECT_EQ(stream.run(2, 8).address, 1000U + 10 * 8);
}

TEST(WordStream, ContiguousTilesAreOneRun) {
  LoadActivationsCommand load = tiles();
  load.stride = load.rows;
  WordStream stream;
  stream.add(load, 0);
  EXPECT_EQ(stream.run(1, 1).words, 5U) << "to the end of the pass";
  EXPECT_EQ(stream.run(6, 1).address, 1000U);
}

TEST(WordStream, KeepsLoadsFromAWordOn) {
  WordStream stream;
  stream.add(tiles(), 1);
  LoadWeightsCommand weights;
  weights.count = 4;
  weights.passes = 1;
  weights.address = 5000;
  stream.add(weights, 2);
  EXPECT_EQ(stream.end(), 28U);
  stream.forget(23);
  EXPECT_EQ(stream.run(23, 1).tag, 1U);
  stream.forget(24);
  EXPECT_EQ(stream.run(24, 1).address, 5000U);
  EXPECT_EQ(stream.run(24, 1).tag, 2U);
  EXPECT_EQ(stream.run(24, 1).words, 4U);
}

TEST(WordStream, CountsNoMoreWordsThanFit) {
  LoadActivationsCommand load = tiles();
  load.rows = load.count = load.passes = load.blocks = 0xffffffff;
  WordStream stream;
  stream.add(load, 0);
  EXPECT_EQ(stream.end(), std::uint64_t{1} << 62);
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What of a memory's words is found wrong, and when.
#include <Vparity_check_b4.h>
#include <Vparity_check_b4_held.h>
#include <Vparity_check_b4_off.h>
#include <Vparity_check_b4_reported.h>
#include <Vparity_check_b4_unwritten.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kDepth = 5;

/// The memory and its check; words can be changed without the check.
template <class Model>
class Memory {
 public:
  Memory() {
    bench_->write_i = bench_->read_i = 0;
    reset();
  }

  void write(unsigned to, std::uint32_t value) {
    bench_->write_i = 1;
    bench_->write_address_i = static_cast<std::uint8_t>(to);
    bench_->write_data_i = value;
    step();
    words[to] = value;
  }
  void read(unsigned from) {
    bench_->read_i = 1;
    bench_->read_address_i = static_cast<std::uint8_t>(from);
    step();
    shown = words[from];
  }
  void step() {
    bench_->data_i = shown;
    bench_.step();
    bench_->write_i = bench_->read_i = 0;
  }
  bool wrong() {
    bench_.settle();
    return bench_->wrong_o != 0;
  }
  bool unwritten() {
    bench_.settle();
    return bench_->unwritten_o != 0;
  }
  unsigned word() { return bench_->word_o; }
  void reset() {
    bench_->rst_ni = 0;
    step();
    bench_->rst_ni = 1;
  }

  std::array<std::uint32_t, kDepth> words{};
  std::uint32_t shown = 0;

 private:
  Bench<Model> bench_;
};

TEST(WordCheck, DetectsFlipTwoCyclesAfterRead) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    Memory<Vparity_check_b4> memory;
    for (unsigned i = 0; i < kDepth; ++i) memory.write(i, 0x01020304u * (i + 7));
    memory.words[3] ^= 1u << bit;
    for (const unsigned good : {0u, 1u, 2u, 4u}) {
      memory.read(good);
      memory.step();
      ASSERT_FALSE(memory.wrong()) << "word " << good;
    }
    memory.read(3);
    EXPECT_FALSE(memory.wrong()) << "bit " << bit;
    memory.step();
    EXPECT_TRUE(memory.wrong()) << "bit " << bit;
    EXPECT_EQ(memory.word(), 3u);
    memory.words[1] ^= 1;
    memory.read(1);
    memory.step();
    EXPECT_EQ(memory.word(), 3u) << "the first one is reported";
    memory.reset();
    EXPECT_FALSE(memory.wrong());
    EXPECT_EQ(memory.word(), 0u);
    memory.read(0);
    memory.step();
    EXPECT_FALSE(memory.wrong());
  }
}

TEST(WordCheck, FindsWhateverHappensToOneByte) {
  Memory<Vparity_check_b4> memory;
  for (unsigned byte = 0; byte < 4; ++byte) {
    for (std::uint32_t change = 1; change < 256; ++change) {
      memory.write(2, 0x8badf00d);
      memory.words[2] ^= change << 8 * byte;
      memory.read(2);
      memory.step();
      EXPECT_TRUE(memory.wrong()) << "byte " << byte << " changed by " << change;
      memory.reset();
    }
  }
}

TEST(WordCheck, AWordThatNobodyReadsIsNotLookedAt) {
  Memory<Vparity_check_b4> memory;
  memory.write(0, 5);
  memory.read(0);
  memory.step();
  memory.shown ^= 1;
  memory.step();
  memory.step();
  EXPECT_FALSE(memory.wrong());
}

TEST(WordCheck, ChecksAHeldWordEachCycle) {
  Memory<Vparity_check_b4_held> memory;
  memory.shown = 77;  // of what was shown before the first read nothing is known
  for (unsigned i = 0; i < 3; ++i) memory.step();
  EXPECT_FALSE(memory.wrong());
  memory.write(0, 5);
  memory.write(1, 6);
  memory.read(1);
  memory.read(0);
  for (unsigned i = 0; i < 3; ++i) memory.step();
  EXPECT_FALSE(memory.wrong());
  memory.shown ^= 0x40000;
  memory.step();
  EXPECT_TRUE(memory.wrong());
  EXPECT_EQ(memory.word(), 0u);
}

TEST(WordCheck, AWordThatWasNotWrittenMayBeRead) {
  Memory<Vparity_check_b4_unwritten> memory;
  memory.words = {1, 2, 3, 4, 5};  // nothing is kept next to them
  for (unsigned i = 0; i < kDepth; ++i) {
    memory.read(i);
    memory.step();
  }
  EXPECT_FALSE(memory.wrong());
  memory.write(3, 9);
  memory.words[3] ^= 8;
  memory.read(3);
  memory.step();
  EXPECT_TRUE(memory.wrong());
  memory.reset();  // after which nothing is known of any word
  memory.read(3);
  memory.step();
  EXPECT_FALSE(memory.wrong());
}

TEST(WordCheck, ReportsReadOfUnwrittenWord) {
  Memory<Vparity_check_b4_reported> memory;
  const auto reads = [&](unsigned at) {
    memory.read(at);
    memory.step();
    EXPECT_FALSE(memory.wrong()) << "word " << at;
    return memory.unwritten();
  };
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned first = 0; first < kDepth; ++first) {
      memory.reset();
      EXPECT_FALSE(memory.unwritten());
      for (unsigned i = first; i < kDepth; i += 2) memory.write(i, i + 9 * round);
      for (unsigned i = first; i < kDepth; i += 2) EXPECT_FALSE(reads(i)) << "word " << i;
      for (unsigned i = 0; i < kDepth; ++i) memory.words[i] ^= 1;  // no flip of what is not there
      const unsigned missing = first == 0 ? 1 : first - 1;
      EXPECT_TRUE(reads(missing));
      EXPECT_EQ(memory.word(), missing);
      memory.read(first);  // what is found later is not reported
      memory.step();
      EXPECT_FALSE(memory.wrong());
      EXPECT_EQ(memory.word(), missing);
    }
  }
  memory.reset();
  memory.write(2, 5);
  memory.words[2] ^= 4;
  memory.read(2);
  memory.step();
  EXPECT_TRUE(memory.wrong());
  EXPECT_FALSE(memory.unwritten());
}

TEST(WordCheck, ReadDuringWriteReturnsOldWord) {
  Memory<Vparity_check_b4> memory;
  for (unsigned i = 0; i < kDepth; ++i) memory.write(i, i);
  for_seeds(1, 5, [&](std::mt19937& random) {
    for (unsigned t = 0; t < 200; ++t) {
      const unsigned at = draw(random, 0, kDepth - 1);
      const std::uint32_t old = memory.words[at];
      memory.read(at);
      memory.write(at, static_cast<std::uint32_t>(random()));
      memory.shown = old;
      memory.step();
      ASSERT_FALSE(memory.wrong());
    }
  });
}

TEST(WordCheck, IsNothingWhereItIsOff) {
  Memory<Vparity_check_b4_off> memory;
  memory.write(0, 5);
  memory.words[0] = 4;
  memory.read(0);
  memory.step();
  memory.step();
  EXPECT_FALSE(memory.wrong());
  EXPECT_EQ(memory.word(), 0u);
}

}  // namespace
}  // namespace gemm64::rtl_test

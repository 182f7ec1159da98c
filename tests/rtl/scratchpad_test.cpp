// SPDX-License-Identifier: Apache-2.0
#include <Vscratchpad_flips.h>

#include <optional>

#include "tests/rtl/flips.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kWords = 12, kTensorWords = 5, kFirst = kWords - kTensorWords;

class Scratchpad : public testing::Test {
 protected:
  Scratchpad() {
    bench_->tensor_i = 0;
    rest();
    bench_.reset();
  }

  void rest() {
    bench_->write_i = bench_->read_i = bench_->tensor_write_i = bench_->tensor_read_i = 0;
  }

  /// Random reads and writes of both ports, of words that were written: each gives what was written
  /// last. Returns the number of reads.
  unsigned run(std::mt19937& random, bool tensor) {
    bench_->tensor_i = tensor;
    rest();
    bench_.reset();
    std::map<unsigned, std::uint32_t> words;  // by their places in the scratchpad
    std::optional<std::uint32_t> shown, tensor_shown;
    unsigned reads = 0;
    for (unsigned i = 0; i < 400; ++i) {
      std::optional<unsigned> written, tensor_written;
      const std::uint32_t value = static_cast<std::uint32_t>(random()), other = ~value;
      rest();
      // Without a request an address means nothing.
      bench_->read_address_i = bench_->write_address_i =
          static_cast<std::uint8_t>(draw(random, 0, (tensor ? kFirst : kWords) - 1));
      bench_->tensor_read_address_i = bench_->tensor_write_address_i =
          static_cast<std::uint8_t>(draw(random, 0, kTensorWords - 1));
      std::optional<std::uint32_t> next = shown, tensor_next = tensor_shown;
      if (draw(random, 0, 1) != 0) {
        written = draw(random, 0, (tensor ? kFirst : kWords) - 1);
        bench_->write_i = 1;
        bench_->write_address_i = static_cast<std::uint8_t>(*written);
        bench_->write_data_i = value;
      }
      const auto from = words.find(draw(random, 0, (tensor ? kFirst : kWords) - 1));
      if (from != words.end()) {
        bench_->read_i = 1;
        bench_->read_address_i = static_cast<std::uint8_t>(from->first);
        next = from->second;
        ++reads;
      }
      if (tensor && draw(random, 0, 1) != 0) {
        tensor_written = draw(random, 0, kTensorWords - 1);
        bench_->tensor_write_i = 1;
        bench_->tensor_write_address_i = static_cast<std::uint8_t>(*tensor_written);
        bench_->tensor_write_data_i = other;
      }
      const auto tensor_from = words.find(kFirst + draw(random, 0, kTensorWords - 1));
      if (tensor && tensor_from != words.end()) {
        bench_->tensor_read_i = 1;
        bench_->tensor_read_address_i = static_cast<std::uint8_t>(tensor_from->first - kFirst);
        tensor_next = tensor_from->second;
        ++reads;
      }
      bench_.step();
      if (written) words[*written] = value;
      if (tensor_written) words[kFirst + *tensor_written] = other;
      shown = next;
      tensor_shown = tensor_next;
      bench_.settle();
      if (shown) EXPECT_EQ(bench_->word_o, *shown) << i;
      if (tensor && tensor_shown) EXPECT_EQ(bench_->tensor_word_o, *tensor_shown) << i;
      EXPECT_EQ(bench_->wrong_o, 0);
      EXPECT_EQ(bench_->unwritten_o, 0);
    }
    return reads;
  }

  Bench<Vscratchpad_flips> bench_;
};

TEST_F(Scratchpad, WordsAreThoseWrittenLast) {
  for_seeds(1, 20, [&](std::mt19937& random) {
    EXPECT_GT(run(random, false), 50u);
    EXPECT_GT(run(random, true), 100u);
  });
}

TEST_F(Scratchpad, ReportsTheUnwrittenWordAndItsPort) {
  for (const bool tensor : {false, true}) {
    for (unsigned word = 0; word < kWords; ++word) {
      const bool of_tensor = tensor && word >= kFirst;
      bench_->tensor_i = tensor;
      rest();
      bench_.reset();
      if (of_tensor) {
        bench_->tensor_read_i = 1;
        bench_->tensor_read_address_i = static_cast<std::uint8_t>(word - kFirst);
      } else {
        bench_->read_i = 1;
        bench_->read_address_i = static_cast<std::uint8_t>(word);
      }
      bench_.step();
      rest();
      bench_.step();
      bench_.settle();
      EXPECT_EQ(bench_->unwritten_o, 1);
      EXPECT_EQ(bench_->wrong_word_o, word);
      EXPECT_EQ(bench_->wrong_tensor_o, of_tensor);
    }
  }
}

// Whichever bit of a word or of its parity changes, of either bank.
TEST_F(Scratchpad, ReportsTheWordThatChanged) {
  Flips flips(bench_.context());
  ASSERT_EQ(flips.bits(), kWords * (32 + 8));
  std::mt19937 random(7);
  for (std::size_t bit = 0; bit < flips.bits(); ++bit) {
    SCOPED_TRACE(flips.in_words(bit));
    rest();
    bench_.reset();
    std::vector<std::uint32_t> words(kWords);
    for (unsigned word = 0; word < kWords; ++word) {
      words[word] = static_cast<std::uint32_t>(random());
      bench_->write_i = 1;
      bench_->write_address_i = static_cast<std::uint8_t>(word);
      bench_->write_data_i = words[word];
      bench_.step();
    }
    rest();
    flips.flip(bit);
    std::vector<unsigned> changed, wrong;
    for (unsigned word = 0; word < kWords && wrong.empty(); ++word) {
      bench_->read_i = 1;
      bench_->read_address_i = static_cast<std::uint8_t>(word);
      bench_.step();
      rest();
      bench_.settle();
      if (bench_->word_o != words[word]) changed.push_back(word);
      bench_.step();
      bench_.settle();
      if (bench_->wrong_o != 0) wrong.push_back(word);
    }
    ASSERT_EQ(wrong.size(), 1u);
    EXPECT_EQ(bench_->wrong_word_o, wrong[0]);
    EXPECT_EQ(bench_->unwritten_o, 0);
    EXPECT_EQ(bench_->wrong_tensor_o, 0);
    if (!changed.empty()) EXPECT_EQ(changed, wrong);
  }
}

}  // namespace
}  // namespace gemm64::rtl_test

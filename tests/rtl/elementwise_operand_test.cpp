// SPDX-License-Identifier: Apache-2.0
#include <Velementwise_operand_n2.h>
#include <Velementwise_operand_n4.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

#include "host/device/registers.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

/// A walk: for each of `blocks` blocks, `count` runs of `rows` words, `stride` words apart; a block
/// begins `rows` words after the one before.
struct Load {
  std::uint64_t address;
  std::uint32_t rows = 1, count = 1, blocks = 1, stride = 1;
};

struct Gates {
  Gate command, request, data, claim, read;
};

/// The loader between a memory that answers in order and results that claim some words at once,
/// then read them.
template <class Model, unsigned kN, unsigned kWords, unsigned kBursts>
class Trial {
 public:
  Trial(std::vector<Load> loads, Gates gates, unsigned latency, unsigned most = kWords)
      : loads_(std::move(loads)), gates_(std::move(gates)), latency_(latency), most_(most) {
    for (const Load& load : loads_) {
      for (std::uint32_t block = 0; block < load.blocks; ++block) {
        for (std::uint32_t run = 0; run < load.count; ++run) {
          for (std::uint32_t row = 0; row < load.rows; ++row) {
            const std::uint64_t word =
                std::uint64_t{block} * load.rows + std::uint64_t{run} * load.stride + row;
            words_.push_back(load.address + word * kN);
          }
        }
      }
    }
    bench->stop_i = 0;
  }

  void operator()() {
    while (read_ < words_.size() || !bench->idle_o) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(bench->quiet_o, 1);
    EXPECT_EQ(arrived_, words_.size());
  }

  void clock() {
    drive();
    bench.settle();
    check();
    account();
    bench.edge();
  }

  Bench<Model> bench{400000};
  std::size_t asked = 0;  // words
  unsigned error_beat = ~0u;
  std::vector<unsigned> errors;                  // tags
  std::vector<std::uint64_t> asked_at, read_at;  // cycles of bursts, words

 private:
  struct Burst {
    std::uint64_t address, due;
    unsigned beats;
  };

  void drive() {
    const bool command = sent_ < loads_.size() && (waits_ || gates_.command());
    const Load load = command ? loads_[sent_] : Load{0x1000};
    Command given;
    given.opcode = Opcode::kLoadOperands;
    given.rows = load.rows;
    given.count = load.count;
    given.passes = 1;
    given.blocks = load.blocks;
    given.stride = load.stride;
    given.set_address(load.address);
    std::uint8_t bytes[kCommandBytes];
    given.encode(bytes);
    for (unsigned i = 0; i < kCommandBytes; ++i) set_lane(bench->command_i, i, bytes[i]);
    bench->command_valid_i = command;
    bench->command_tag_i = static_cast<std::uint16_t>(40 + sent_);
    bench->request_ready_i = gates_.request();
    bench->beat_i = !memory_.empty() && memory_.front().due <= bench.clock() && gates_.data();
    set_memory_word(bench->beat_data_i, bench->beat_i ? memory_.front().address : bench.clock());
    bench->beat_last_i = !memory_.empty() && memory_.front().beats == 1;
    bench->beat_error_i = bench->beat_i && arrived_ == error_beat;
    // As many as there are, or fewer.
    const std::size_t there = arrived_ - claimed_;
    bench->claim_i = there != 0 && gates_.claim();
    bench->claimed_i = static_cast<unsigned>(std::min<std::size_t>(there, most_));
    bench->read_i = claimed_ > read_ && gates_.read();
  }

  void check() {
    EXPECT_EQ(bench->words_o, arrived_ - claimed_);
    if (shown_) {
      for (unsigned i = 0; i < kN; ++i) {
        ASSERT_EQ(lane<std::uint8_t>(bench->word_o, i), memory_byte(words_[read_ - 1] + i))
            << "byte " << i << " of word " << read_ - 1;
      }
    }
    if (bench->request_valid_o) {
      check_burst(bench->request_address_o, bench->request_beats_o - 1, kN == 2 ? 1 : 2, 1, kN);
      EXPECT_LE(bench->request_beats_o, kWords / 2);
      EXPECT_LE(asked + bench->request_beats_o - read_, kWords) << "no room for the burst";
      EXPECT_LT(memory_.size(), kBursts);
    }
    stays_(bench->request_valid_o && !bench->stop_i, bench->request_ready_i,
           {bench->request_address_o, bench->request_beats_o});
    unsigned causes = 0;
    for (unsigned i = 0; i < 4; ++i) causes += bench->causes_o >> i & 1;
    EXPECT_EQ(causes, 1u);
    EXPECT_EQ((bench->causes_o >> 0 & 1), bench->beat_i);
    EXPECT_EQ((bench->causes_o >> 1 & 1), !memory_.empty() && !bench->beat_i);
    EXPECT_EQ((bench->causes_o >> 3 & 1), arrived_ == promised_);
    EXPECT_EQ(bench->quiet_o, memory_.empty());
    EXPECT_EQ(bench->idle_o, arrived_ == promised_ && arrived_ == read_);
    EXPECT_EQ(bench->error_o, bench->beat_error_i);
    if (bench->error_o) errors.push_back(bench->error_tag_o);
  }

  void account() {
    waits_ = bench->command_valid_i && !bench->command_ready_o;
    if (bench->command_valid_i && !waits_) {
      const Load& load = loads_[sent_++];
      promised_ += std::size_t{load.rows} * load.count * load.blocks;
    }
    if (bench->beat_i) {
      ++arrived_;
      memory_.front().address += kN;
      if (--memory_.front().beats == 0) memory_.pop_front();
    }
    if (bench->request_valid_o && bench->request_ready_i) {
      memory_.push_back(
          {bench->request_address_o, bench.clock() + latency_, bench->request_beats_o});
      asked += bench->request_beats_o;
      asked_at.push_back(bench.clock());
    }
    if (bench->claim_i) claimed_ += bench->claimed_i;
    if (bench->read_i) {
      ++read_;
      shown_ = true;
      read_at.push_back(bench.clock());
    }
  }

  std::vector<Load> loads_;
  Gates gates_;
  unsigned latency_;
  unsigned most_;                     // words claimed at once
  std::vector<std::uint64_t> words_;  // addresses, in order
  std::deque<Burst> memory_;
  std::size_t sent_ = 0, promised_ = 0, arrived_ = 0, claimed_ = 0, read_ = 0;  // commands; words
  bool shown_ = false;
  bool waits_ = false;  // a command
  StaysPut<std::tuple<std::uint64_t, unsigned>> stays_{"request"};
};

using TrialN2 = Trial<Velementwise_operand_n2, 2, 8, 2>;
using TrialN4 = Trial<Velementwise_operand_n4, 4, 32, 4>;

TEST(Operands, AreReadInOrderWhateverThePatterns) {
  const std::vector<Load> loads{{4096 - 12, 5, 3, 2, 40}, {0x2000, 1, 7}, {0x3000, 30}};
  for_all_patterns(4, [&](Gate data, Gate read) {
    TrialN2(loads, {Gate(), Gate(), data, Gate(), read}, 1)();
    TrialN4(loads, {Gate(), Gate(), data, Gate(), read}, 9)();
  });
  for_all_patterns(4, [&](Gate claim, Gate request) {
    TrialN2(loads, {Gate(), request, Gate(), claim, Gate()}, 1, 3)();
    TrialN4(loads, {claim, request, Gate(), claim, Gate()}, 3, 1)();
  });
}

TEST(Operands, APlaceIsFreeAClockAfterItsWordIsRead) {
  TrialN4 run({{0, 48}}, {Gate(), Gate(), Gate(), Gate(), Gate(1u << 31, 32)}, 1);
  run();
  ASSERT_EQ(run.asked_at.size(), 3u);  // 16 words each
  EXPECT_EQ(run.asked_at[0], 2u);      // seen in cycle 1, a burst in cycle 2
  EXPECT_EQ(run.asked_at[1], 3u);
  EXPECT_EQ(run.asked_at[2], run.read_at[15] + 1);
}

TEST(Operands, AskForNothingThatHasNoRoom) {
  TrialN4 run({{0, 800}}, {Gate(), Gate(), Gate(), Gate(), Gate(0, 1)}, 1);
  for (unsigned t = 0; t < 300; ++t) run.clock();
  EXPECT_EQ(run.asked, 32u);
  EXPECT_EQ((run.bench->causes_o >> 2 & 1), 1);
}

TEST(Operands, StopAsksForNothingMore) {
  TrialN4 run({{0, 800}}, {Gate(), Gate(), Gate(), Gate(), Gate(0, 1)}, 1);
  while (run.asked == 0) run.clock();
  run.bench->stop_i = 1;
  for (unsigned t = 0; t < 100; ++t) run.clock();
  EXPECT_EQ(run.asked, 16u);
  EXPECT_EQ(run.bench->quiet_o, 1);
}

TEST(Operands, BusErrorNamesTheCommandOfItsBurst) {
  for (const unsigned beat : {0u, 7u, 8u, 15u, 16u}) {
    TrialN4 run({{0, 8}, {64, 4, 2, 1, 4}, {128, 8}}, {}, 20);
    run.error_beat = beat;
    run();
    EXPECT_EQ(run.errors, std::vector<unsigned>{40 + beat / 8}) << beat;
  }
}

TEST(Operands, AreUsedAtRandom) {
  for_seeds(1, 80, [](std::mt19937& random) {
    std::vector<Load> loads;
    for (unsigned i = draw(random, 1, 5); i > 0; --i) {
      loads.push_back({draw(random, 0, 4096) * 4ull, draw(random, 1, 40), draw(random, 1, 4),
                       draw(random, 1, 3), draw(random, 0, 300)});
    }
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random), Gate::random(random)};
    };
    TrialN2(loads, gates(), draw(random, 1, 60), draw(random, 1, 8))();
    TrialN4(loads, gates(), draw(random, 1, 60), draw(random, 1, 32))();
  });
}

}  // namespace
}  // namespace gemm64::rtl_test

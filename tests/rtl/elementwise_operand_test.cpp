// SPDX-License-Identifier: Apache-2.0
#include <Velementwise_operand_n2.h>
#include <Velementwise_operand_n4.h>

#include "host/device/registers.hpp"
#include "tests/rtl/load_trial.hpp"

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
class Trial : public LoadTrial<Model, kN, kBursts> {
  using Base = LoadTrial<Model, kN, kBursts>;
  using Base::arrived_, Base::drive_command, Base::drive_memory, Base::promised_, Base::sent_,
      Base::taken_;

 public:
  using Base::asked, Base::bench, Base::clock;

  Trial(std::vector<Load> loads, Gates gates, unsigned latency, unsigned most = kWords)
      : Base(latency), loads_(std::move(loads)), gates_(std::move(gates)), most_(most) {
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
  }

  void operator()() {
    while (read_ < words_.size() || !bench->idle_o) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(bench->quiet_o, 1);
    EXPECT_EQ(arrived_, words_.size());
  }

  std::vector<std::uint64_t> read_at;  // cycles of words

 private:
  void drive() override {
    const bool command = drive_command(loads_.size(), gates_.command);
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
    drive_memory(gates_.request, gates_.data);
    // As many as there are, or fewer.
    const std::size_t there = arrived_ - claimed_;
    bench->claim_i = there != 0 && gates_.claim();
    bench->claimed_i = static_cast<unsigned>(std::min<std::size_t>(there, most_));
    bench->read_i = claimed_ > read_ && gates_.read();
  }

  void check() override {
    EXPECT_EQ(bench->words_o, arrived_ - claimed_);
    if (shown_) {
      for (unsigned i = 0; i < kN; ++i) {
        ASSERT_EQ(lane<std::uint8_t>(bench->word_o, i), memory_byte(words_[read_ - 1] + i))
            << "byte " << i << " of word " << read_ - 1;
      }
    }
    if (bench->request_valid_o) {
      EXPECT_LE(bench->request_beats_o, kWords / 2);
      EXPECT_LE(asked + bench->request_beats_o - read_, kWords) << "no room for the burst";
    }
    EXPECT_EQ((bench->causes_o >> 3 & 1), arrived_ == promised_);
    EXPECT_EQ(bench->idle_o, arrived_ == promised_ && arrived_ == read_);
  }

  void account() override {
    if (taken_) {
      const Load& load = loads_[sent_];
      promised_ += std::size_t{load.rows} * load.count * load.blocks;
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
  unsigned most_;                       // words claimed at once
  std::vector<std::uint64_t> words_;    // addresses, in order
  std::size_t claimed_ = 0, read_ = 0;  // words
  bool shown_ = false;
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

TEST(Operands, APlaceIsFreeACycleAfterItsRead) {
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

// SPDX-License-Identifier: Apache-2.0
#include <Vrequant_params_n2.h>
#include <Vrequant_params_n4.h>

#include "tests/rtl/load_trial.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kSetWords = 8;

/// `count` words, gone through `passes` times.
struct Load {
  std::uint64_t address;
  std::uint32_t count, passes;
};

struct Gates {
  Gate command, request, data, claim, bias, scale;
};

/// The loader between a memory that answers in order and results that use set after set: claim it,
/// read its biases, then its scales.
template <class Model, unsigned kN, unsigned kSets, unsigned kBursts>
class Trial : public LoadTrial<Model, kN, kBursts> {
  using Base = LoadTrial<Model, kN, kBursts>;
  using Base::arrived_, Base::drive_command, Base::drive_memory, Base::promised_, Base::sent_,
      Base::set_address, Base::taken_;

 public:
  using Base::asked, Base::bench, Base::clock;

  Trial(std::vector<Load> loads, Gates gates, unsigned latency)
      : Base(latency), loads_(std::move(loads)), gates_(std::move(gates)) {
    for (const Load& load : loads_) {
      for (std::uint32_t i = 0; i < load.count * load.passes; ++i) {
        words_.push_back(load.address + i % load.count * kN);
      }
    }
  }

  void operator()() {
    while (scales_ * kSetWords < words_.size() || !bench->idle_o) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(bench->quiet_o, 1);
    EXPECT_EQ(arrived_, words_.size());
  }

  std::vector<std::uint64_t> ready_at, read_at;  // cycles of sets, scales

 private:
  void drive() override {
    const bool command = drive_command(loads_.size(), gates_.command);
    const Load load = command ? loads_[sent_] : Load{0x1000, 1, 1};
    set_address(load.address);
    bench->command_i[1] = load.count;
    bench->command_i[2] = load.passes;
    drive_memory(gates_.request, gates_.data);
    bench->claim_i = arrived_ / kSetWords > claimed_ && gates_.claim();
    // The biases of the next set may be read in the cycle in which the previous ones are released.
    bench->bias_next_i = bias_shown_ && gates_.bias();
    bench->bias_read_i =
        (!bias_shown_ || bench->bias_next_i) && claimed_ > biases_ + bench->bias_next_i;
    bench->scale_read_i = biases_ + bias_shown_ > scales_ && gates_.scale();
  }

  void check() override {
    EXPECT_EQ(bench->ready_o, arrived_ / kSetWords > claimed_);
    if (bias_shown_) expect_shown(bench->bias_o, biases_ * kSetWords);
    if (scales_ > 0) expect_shown(bench->scale_o, (scales_ - 1) * kSetWords + kSetWords / 2);
    if (bench->request_valid_o) {
      EXPECT_LE(bench->request_beats_o, kSets * kSetWords / 2);
      EXPECT_LE(asked + bench->request_beats_o - scales_ * kSetWords, kSets * kSetWords)
          << "no room for the burst";
    }
    EXPECT_EQ((bench->causes_o >> 3 & 1), arrived_ == promised_);
    EXPECT_EQ(bench->idle_o, arrived_ == promised_ && arrived_ == scales_ * kSetWords);
    if (bench->ready_o && (ready_at.size() <= claimed_)) ready_at.push_back(bench.clock());
  }

  template <class Port>
  void expect_shown(const Port& port, std::size_t first_word) {
    for (unsigned i = 0; i < 4 * kN; ++i) {
      ASSERT_EQ(lane<std::uint8_t>(port, i), memory_byte(words_[first_word + i / kN] + i % kN))
          << "byte " << i << " of the words from " << first_word << " on";
    }
  }

  void account() override {
    if (taken_) promised_ += loads_[sent_].count * loads_[sent_].passes;
    claimed_ += bench->claim_i;
    if (bench->bias_next_i) ++biases_, bias_shown_ = false;
    bias_shown_ |= bench->bias_read_i;
    if (bench->scale_read_i) ++scales_, read_at.push_back(bench.clock());
  }

  std::vector<Load> loads_;
  Gates gates_;
  std::vector<std::uint64_t> words_;                   // addresses, in order
  std::size_t claimed_ = 0, biases_ = 0, scales_ = 0;  // sets; of biases: released
  bool bias_shown_ = false;
};

using TrialN2 = Trial<Vrequant_params_n2, 2, 2, 2>;
using TrialN4 = Trial<Vrequant_params_n4, 4, 4, 4>;

TEST(ParameterSets, AreShownInOrderWithAnyPattern) {
  const std::vector<Load> loads{{4096 - 12, 24, 2}, {0x2000, 4, 2}, {0x3000, 8, 1}};
  for_all_patterns(4, [&](Gate data, Gate scale) {
    TrialN2(loads, {Gate(), Gate(), data, Gate(), Gate(), scale}, 1)();
    TrialN4(loads, {Gate(), Gate(), data, Gate(), Gate(), scale}, 9)();
  });
  for_all_patterns(4, [&](Gate claim, Gate bias) {
    TrialN2(loads, {Gate(), Gate(), Gate(), claim, bias, Gate()}, 1)();
    TrialN4(loads, {bias, claim, Gate(), claim, bias, Gate()}, 3)();
  });
}

TEST(ParameterSets, ReadyACycleAfterLastWord) {
  // Two bursts of two sets, then a third for which two sets must have left.
  TrialN4 run({{0, 48, 1}}, {Gate(), Gate(), Gate(), Gate(), Gate(), Gate(1u << 31, 32)}, 1);
  run();
  ASSERT_EQ(run.asked_at.size(), 3u);
  EXPECT_EQ(run.asked_at[0], 2u);  // seen in cycle 1, a burst in cycle 2
  EXPECT_EQ(run.asked_at[1], 3u);
  EXPECT_EQ(run.ready_at[0], 2u + 1 + 8);
  EXPECT_EQ(run.asked_at[2], run.read_at[1] + 1);
}

TEST(ParameterSets, AskForNothingThatHasNoRoom) {
  TrialN4 run({{0, 800, 1}}, {Gate(), Gate(), Gate(), Gate(), Gate(), Gate(0, 1)}, 1);
  for (unsigned t = 0; t < 300; ++t) run.clock();
  EXPECT_EQ(run.asked, 32u);
  EXPECT_EQ((run.bench->causes_o >> 2 & 1), 1);
}

TEST(ParameterSets, AreNotIdleWithHalfASet) {
  TrialN4 run({{0, 4, 1}}, {}, 1);
  for (unsigned t = 0; t < 30; ++t) run.clock();
  EXPECT_EQ(run.asked, 4u);
  EXPECT_EQ(run.bench->idle_o, 0);
}

TEST(ParameterSets, StopAsksForNothingMore) {
  TrialN4 run({{0, 800, 1}}, {Gate(), Gate(), Gate(), Gate(), Gate(), Gate(0, 1)}, 1);
  while (run.asked == 0) run.clock();
  run.bench->stop_i = 1;
  for (unsigned t = 0; t < 100; ++t) run.clock();
  EXPECT_EQ(run.asked, 16u);
  EXPECT_EQ(run.bench->quiet_o, 1);
}

TEST(ParameterSets, BusErrorNamesCommandOfBurst) {
  for (const unsigned beat : {0u, 7u, 8u, 15u, 16u}) {
    TrialN4 run({{0, 8, 1}, {64, 4, 2}, {128, 8, 1}}, {}, 20);
    run.error_beat = beat;
    run();
    EXPECT_EQ(run.errors, std::vector<unsigned>{40 + beat / 8}) << beat;
  }
}

TEST(ParameterSets, AreUsedAtRandom) {
  for_seeds(1, 80, [](std::mt19937& random) {
    std::vector<Load> loads;
    for (unsigned i = draw(random, 1, 5); i > 0; --i) {
      loads.push_back({draw(random, 0, 4096) * 4ull, 8 * draw(random, 1, 9), draw(random, 1, 3)});
    }
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random), Gate::random(random), Gate::random(random)};
    };
    TrialN2(loads, gates(), draw(random, 1, 60))();
    TrialN4(loads, gates(), draw(random, 1, 60))();
  });
}

}  // namespace
}  // namespace gemm64::rtl_test

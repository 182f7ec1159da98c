// SPDX-License-Identifier: Apache-2.0
#include <Vweights_n4.h>
#include <Vweights_n8.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

struct Load {
  std::uint64_t address;
  std::uint32_t count, passes;
};

struct Gates {
  Gate command, address, data, read;
};

/// Words that stay in the buffer until they have been read `times` times, one block after the
/// other.
struct Retained {
  std::size_t words = 1;
  unsigned times = 1;
};

using Address = std::tuple<std::uint64_t, unsigned>;

/// The engine between a memory that answers in order and an array that reads.
template <class Model, unsigned kN, unsigned kWords, unsigned kBursts>
class Trial {
 public:
  Trial(std::vector<Load> loads, Gates gates, unsigned latency, Retained retained = {})
      : loads_(std::move(loads)), gates_(std::move(gates)), latency_(latency) {
    for (const Load& load : loads_) {
      for (std::uint32_t i = 0; i < load.count * load.passes; ++i) {
        words_.push_back(load.address + i % load.count * kN);
      }
    }
    for (std::size_t first = 0; first < words_.size(); first += retained.words) {
      const std::size_t end = std::min(first + retained.words, words_.size());
      for (unsigned time = 1; time <= retained.times; ++time) {
        const bool stays = time != retained.times;
        for (std::size_t word = first; word < end; ++word) {
          reads_.push_back({word, !stays, stays && word + 1 == end});
        }
      }
    }
    bench->stop_i = bench->rvalid_i = bench->read_i = bench->command_valid_i = 0;
    bench->release_i = bench->rewind_i = 0;
  }

  /// All words, in order, each counted a cycle after it came and shown a cycle after it was read.
  void operator()() {
    while (read_ < reads_.size() || !bench->idle_o) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(arrived_, words_.size());
    EXPECT_EQ(bench->quiet_o, 1);
  }

  void clock() {
    drive();
    bench.settle();
    check();
    account();
    const bool read = bench->read_i;
    bench.edge();
    if (read) {
      shown_ = reads_[read_].word;
      released_ += reads_[read_++].release;
    }
    shows_ |= read;
  }

  Bench<Model> bench{400000};
  unsigned error_beat = ~0u;  // beat that answers with `error`
  unsigned error = 2;
  unsigned bursts = 0;                                // accepted
  std::vector<std::pair<unsigned, unsigned>> errors;  // tag, DECERR
  std::size_t arrived_ = 0, read_ = 0;

 private:
  struct Read {
    std::size_t word;
    bool release, rewind;
  };

  /// Words before the next one to be read.
  std::size_t next_word() const {
    return read_ < reads_.size() ? reads_[read_].word : words_.size();
  }

  struct Burst {
    std::uint64_t address, due;
    unsigned beats;
  };

  void drive() {
    const bool command = sent_ < loads_.size() && (waits_ || gates_.command());
    const Load load = command ? loads_[sent_] : Load{0x1000, 1, 1};
    bench->command_valid_i = command;
    bench->command_i[4] = static_cast<std::uint32_t>(load.address);
    bench->command_i[5] = static_cast<std::uint32_t>(load.address >> 32);
    bench->command_i[1] = load.count;
    bench->command_i[2] = load.passes;
    bench->command_tag_i = static_cast<std::uint16_t>(40 + sent_);
    bench->arready_i = gates_.address();
    const bool due = !memory_.empty() && memory_.front().due <= bench.clock();
    bench->rvalid_i = due && (gates_.data());
    if (due) set_memory_word(bench->rdata_i, memory_.front().address);
    bench->rlast_i = due && memory_.front().beats == 1;
    bench->rresp_i = static_cast<std::uint8_t>(arrived_ == error_beat ? error : 0);
    bench->read_i = gates_.read() && arrived_ > next_word() && !bench->stop_i;
    bench->release_i = bench->read_i && reads_[read_].release;
    bench->rewind_i = bench->read_i && reads_[read_].rewind;
  }

  void check() {
    if (!bench->stop_i) {
      EXPECT_EQ(bench->words_o, arrived_ - next_word()) << "cycle " << bench.clock();
    }
    if (shows_ && !bench->stop_i) {
      EXPECT_TRUE(is_memory_word(bench->word_o, words_[shown_])) << shown_;
    }
    if (bench->arvalid_o) {
      EXPECT_EQ(bench->arid_o, 0) << "words come in order";
      check_burst(bench->araddr_o, bench->arlen_o, bench->arsize_o, bench->arburst_o, kN);
    }
    stays_(bench->arvalid_o, bench->arready_i, {bench->araddr_o, bench->arlen_o});
    EXPECT_EQ((bench->causes_o >> 0 & 1) + (bench->causes_o >> 1 & 1) + (bench->causes_o >> 2 & 1) +
                  (bench->causes_o >> 3 & 1),
              1);
    EXPECT_EQ((bench->causes_o >> 0 & 1), bench->rvalid_i);
    EXPECT_EQ(bench->rready_o, 1) << "what was asked for is taken";
    const std::size_t asked = accepted_ + (bench->arvalid_o ? bench->arlen_o + 1u : 0);
    EXPECT_LE(asked - released_, kWords) << "asked for more than there is room for";
    EXPECT_EQ((bench->causes_o >> 1 & 1), !bench->rvalid_i && asked > arrived_);
    if (bench->arvalid_o) {
      EXPECT_LE(bench->arlen_o + 1u, std::min(kWords / 2, 64u)) << "of the buffer more than half";
    }
    EXPECT_EQ((bench->causes_o >> 3 & 1), arrived_ == promised_);
    if (!bench->stop_i) {
      EXPECT_EQ(bench->idle_o, arrived_ == promised_ && arrived_ == released_) << "no word left";
    }
    EXPECT_EQ(bench->error_o, (bench->causes_o >> 0 & 1) && bench->rresp_i != 0);
    if (bench->error_o) errors.push_back({bench->error_tag_o, bench->error_decode_o});
    EXPECT_LE(memory_.size(), kBursts);
    EXPECT_TRUE(!bench->quiet_o || (memory_.empty() && !bench->arvalid_o)) << "not quiet yet";
  }

  void account() {
    waits_ = bench->command_valid_i && !bench->command_ready_o;
    if (bench->command_valid_i && !waits_) {
      promised_ += loads_[sent_].count * loads_[sent_].passes;
      ++sent_;
    }
    if (bench->rvalid_i) {
      ++arrived_;
      memory_.front().address += kN;
      if (--memory_.front().beats == 0) memory_.pop_front();
    }
    if (bench->arvalid_o && bench->arready_i) {
      memory_.push_back({bench->araddr_o, bench.clock() + latency_, bench->arlen_o + 1u});
      accepted_ += bench->arlen_o + 1u;
      ++bursts;
    }
  }

  std::vector<Load> loads_;
  Gates gates_;
  unsigned latency_;
  std::vector<std::uint64_t> words_;  // addresses, in the order in which the array must see them
  std::vector<Read> reads_;
  std::deque<Burst> memory_;
  std::size_t sent_ = 0, shown_ = 0, released_ = 0;
  std::size_t promised_ = 0;  // words of the commands taken
  std::size_t accepted_ = 0;  // words of the bursts on the bus
  bool waits_ = false, shows_ = false;
  StaysPut<Address> stays_{"AR"};
};

using TrialN4 = Trial<Vweights_n4, 4, 8, 2>;
using TrialN8 = Trial<Vweights_n8, 8, 128, 4>;

TEST(Weights, ArriveInOrderUnderStalls) {
  const std::vector<Load> loads{{4096 - 16, 8, 2}, {0x2000, 1, 3}, {0x3000, 4, 1}};
  for_all_patterns(4, [&](Gate data, Gate read) {
    TrialN4(loads, {Gate(), Gate(), data, read}, 1)();
    TrialN8(loads, {Gate(), Gate(), data, read}, 9)();
  });
  for_all_patterns(4, [&](Gate command, Gate address) {
    TrialN4(loads, {command, address, Gate(), Gate()}, 3)();
  });
}

TEST(Weights, RetainedAreReadAgainUntilReleased) {
  for (const unsigned words : {1u, 2u, 7u, 8u}) {  // of a buffer of 8
    for_all_patterns(4, [&](Gate data, Gate read) {
      TrialN4({{0x2000, words, 3}}, {Gate(), Gate(), data, read}, 3, {words, 3})();
    });
  }
  TrialN8 run({{0, 128, 2}}, {}, 20, {128, 5});
  run();
  EXPECT_EQ(run.arrived_, 256u) << "each word comes once";
}

TEST(Weights, StreamAWordPerCycleAfterLatency) {
  TrialN8 run({{0, 640, 1}}, {}, 50);  // two bursts of 64 are kept room for: they cover 50 cycles
  run();
  EXPECT_LE(run.bench.clock(), 640u + 50 + 8);
}

TEST(Weights, StreamAnythingAtRandom) {
  for_seeds(1, 60, [](std::mt19937& random) {
    std::vector<Load> loads;
    for (unsigned i = draw(random, 1, 5); i > 0; --i) {
      loads.push_back({draw(random, 0, 4096) * 8ull, draw(random, 1, 150), draw(random, 1, 3)});
    }
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random)};
    };
    // A burst may bring words after those that stay, so the buffer has space for it.
    TrialN4(loads, gates(), draw(random, 1, 40), {draw(random, 1, 5), draw(random, 1, 3)})();
    TrialN8(loads, gates(), draw(random, 1, 200), {draw(random, 1, 65), draw(random, 1, 3)})();
  });
}

TEST(Weights, RequestNothingWhileBufferIsFull) {
  TrialN4 run({{0, 1000, 1}}, {Gate(), Gate(), Gate(), Gate(0, 1)}, 5);
  for (unsigned t = 0; t < 40; ++t) run.clock();
  EXPECT_EQ(run.arrived_, 8u);
  EXPECT_EQ(run.bursts, 2u) << "of half of the buffer each";
  EXPECT_EQ(run.bench->quiet_o, 1) << "nothing waits at the port";
  EXPECT_EQ((run.bench->causes_o >> 2 & 1), 1);
}

TEST(Weights, StopAcceptsOutstandingWordsOnly) {
  TrialN8 run({{0, 1000, 1}}, {Gate(), Gate(), Gate(), Gate(0, 1)}, 30);
  for (unsigned t = 0; t < 4; ++t) run.clock();
  EXPECT_EQ(run.bench->quiet_o, 0);
  run.bench->stop_i = 1;
  const unsigned before = run.bursts;
  for (unsigned t = 0; t < 200; ++t) run.clock();
  EXPECT_LE(run.bursts, before + 1) << "only a burst that was on the bus already";
  EXPECT_EQ(run.arrived_, 64 * run.bursts);
  EXPECT_EQ(run.bench->quiet_o, 1);
  run.bench.reset();
  run.bench.settle();
  EXPECT_EQ(run.bench->words_o, 0);
  EXPECT_EQ(run.bench->idle_o, 1);
}

TEST(Weights, BusErrorNamesTheCommandOfItsBurst) {
  for (const unsigned beat : {0u, 1u, 2u, 3u, 5u, 11u}) {
    for (const unsigned response : {2u, 3u}) {
      TrialN8 run({{0, 1, 2}, {64, 4, 1}, {128, 6, 1}}, {}, 20);
      run.error_beat = beat;
      run.error = response;
      run();
      const std::pair<unsigned, unsigned> wanted{beat < 2 ? 40 : beat < 6 ? 41 : 42, response == 3};
      ASSERT_EQ(run.errors.size(), 1u) << "beat " << beat;
      EXPECT_EQ(run.errors[0], wanted) << "beat " << beat;
    }
  }
}

}  // namespace
}  // namespace gemm64::rtl_test

// SPDX-License-Identifier: Apache-2.0
#include <Vactivations_n4.h>

#include "tests/rtl/load_trial.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 4;
constexpr unsigned kWords = 67;  // no power of two
constexpr unsigned kBursts = 2;

/// Blocks of `count` tiles of `rows` words, each gone through `passes` times: kept on chip
/// meanwhile, or loaded again. Tiles lie `stride` words apart; 0: one after the other.
struct Job {
  std::uint64_t address;
  unsigned rows, passes, blocks;
  bool retain;
  unsigned count = 1;
  unsigned stride = 0;
  unsigned words() const { return rows * count; }  // of a pass
  unsigned distance() const { return stride != 0 ? stride : rows; }
};

struct Read {
  std::uint64_t address;
  bool release, rewind;
};

struct Gates {
  Gate command, request, data, read;
};

class Trial : public LoadTrial<Vactivations_n4, kN, kBursts> {
 public:
  Trial(std::vector<Job> jobs, Gates gates, unsigned latency)
      : LoadTrial(latency), jobs_(std::move(jobs)), gates_(std::move(gates)) {
    for (const Job& job : jobs_) {
      for (unsigned word = 0; word < job.blocks * job.passes * job.words(); ++word) {
        const unsigned i = word % job.words();
        const unsigned pass = word / job.words() % job.passes;
        const unsigned block = word / job.words() / job.passes;
        const unsigned place = block * job.rows + i / job.rows * job.distance() + i % job.rows;
        const bool keep = job.retain && pass + 1 < job.passes;
        reads_.push_back({job.address + place * kN, !keep, keep && i + 1 == job.words()});
      }
    }
    bench->read_i = bench->command_valid_i = 0;
    bench->window_i = bench->claim_i = bench->free_i = 0;
  }

  void operator()() {
    while (read_ < reads_.size()) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    bench->read_i = bench->beat_i = 0;
    bench.settle();
    EXPECT_EQ(bench->idle_o, 1) << "nothing to load, nothing kept";
    EXPECT_EQ(bench->quiet_o, 1);
    EXPECT_EQ(arrived_, released_);
  }

 private:
  void drive() override {
    const bool command = drive_command(jobs_.size(), gates_.command);
    const Job job = command ? jobs_[sent_] : Job{0x1000, 1, 1, 1, false};
    set_address(job.address);
    bench->command_i[0] = static_cast<std::uint32_t>(job.rows) << 16;
    bench->command_i[1] = job.count;
    bench->command_i[7] = job.distance();
    bench->command_i[2] = job.retain ? 1 : job.passes;
    bench->command_i[3] = job.blocks;
    drive_memory(gates_.request, gates_.data);
    // A word may be read once it is there; what comes with no read means nothing.
    bench->read_i = gates_.read() && read_ < reads_.size() && arrived_ > next_;
    bench->release_i = bench->read_i ? reads_[read_].release : bench.clock() % 2;
    bench->rewind_i = bench->read_i ? reads_[read_].rewind : bench.clock() % 2;
  }

  void check() override {
    EXPECT_EQ(bench->ahead_o, arrived_ - next_) << "cycle " << bench.clock();
    if (read_ > 0) {
      EXPECT_TRUE(is_memory_word(bench->word_o, reads_[read_ - 1].address)) << read_;
    }
    if (bench->request_valid_o) {
      EXPECT_LE(asked + bench->request_beats_o - released_, kWords) << "no room for the burst";
    }
    EXPECT_EQ((bench->causes_o >> 3 & 1), arrived_ == promised_);
    EXPECT_EQ(bench->idle_o, arrived_ == promised_ && arrived_ == released_);
  }

  void account() override {
    if (taken_) {
      const Job& job = jobs_[sent_];
      promised_ += job.words() * job.blocks * (job.retain ? 1 : job.passes);
    }
    if (bench->read_i) {
      if (reads_[read_].release) ++released_;
      next_ = reads_[read_].rewind ? released_ : next_ + 1;
      ++read_;
    }
  }

  std::vector<Job> jobs_;
  Gates gates_;
  std::vector<Read> reads_;
  // Words are numbered as they come: released, and the one that is read next.
  std::size_t released_ = 0, next_ = 0, read_ = 0;
};

TEST(Activations, ServeEveryPassWithAnyPattern) {
  const std::vector<Job> jobs{{4096 - 12, 5, 3, 2, true},
                              {0x2000, 2, 2, 2, false},
                              {0x3000, 1, 4, 1, true},
                              {4096 - 20, 3, 2, 2, true, 3, 9},
                              {0x4000, 2, 2, 3, false, 2, 50}};
  for_all_patterns(4, [&](Gate data, Gate read) {
    Trial(jobs, {Gate(), Gate(), data, read}, 1)();
    Trial(jobs, {Gate(), Gate(), data, read}, 9)();
  });
  for_all_patterns(4, [&](Gate command, Gate request) {
    Trial(jobs, {command, request, Gate(), Gate()}, 3)();
  });
}

TEST(Activations, ABlockMayFillTheWholeScratchpad) {
  for_all_patterns(3, [](Gate data, Gate read) {
    Trial({{0, kWords, 3, 2, true}, {0x4000, kWords, 2, 1, false}}, {Gate(), Gate(), data, read},
          4)();
  });
}

TEST(Activations, EndBurstsWithTilesApart) {
  Trial together({{0, 5, 2, 1, true, 3}}, {}, 1);
  together();
  EXPECT_EQ(together.beats, std::vector<unsigned>{15});
  Trial apart({{0, 5, 2, 1, true, 3, 6}}, {}, 1);
  apart();
  EXPECT_EQ(apart.beats, (std::vector<unsigned>{5, 5, 5}));
}

TEST(Activations, AskForNothingThatHasNoRoom) {
  Trial run({{0, 64, 1, 4, true}}, {Gate(), Gate(), Gate(), Gate(0, 1)}, 1);
  for (unsigned t = 0; t < 300; ++t) run.clock();
  EXPECT_EQ(run.asked, 64u);
  EXPECT_EQ((run.bench->causes_o >> 2 & 1), 1);
}

TEST(Activations, StopAsksForNothingMore) {
  Trial run({{0, 8, 1, 8, true}}, {Gate(), Gate(), Gate(), Gate()}, 1);
  for (unsigned t = 0; t < 4; ++t) run.clock();
  run.bench->stop_i = 1;
  const unsigned asked = run.asked;
  EXPECT_GT(asked, 0u);
  for (unsigned t = 0; t < 100; ++t) run.clock();
  EXPECT_EQ(run.asked, asked);
  EXPECT_EQ(run.bench->quiet_o, 1);
}

TEST(Activations, BusErrorNamesTheCommandOfItsBurst) {
  for (const unsigned beat : {0u, 4u, 5u, 6u, 9u}) {
    Trial run({{0, 5, 1, 1, true}, {64, 1, 1, 1, true}, {128, 4, 1, 1, false}}, {}, 20);
    run.error_beat = beat;
    run();
    EXPECT_EQ(run.errors, std::vector<unsigned>{beat < 5 ? 40u : beat < 6 ? 41u : 42u}) << beat;
  }
}

TEST(Activations, ServeAnythingAtRandom) {
  for_seeds(1, 80, [](std::mt19937& random) {
    std::vector<Job> jobs;
    for (unsigned i = draw(random, 1, 5); i > 0; --i) {
      jobs.push_back({draw(random, 0, 4096) * 4ull, draw(random, 1, kWords), draw(random, 1, 3),
                      draw(random, 1, 3), random() % 2 == 0});
      Job& job = jobs.back();
      if (job.rows < kWords / 2) job.count = draw(random, 1, kWords / job.rows);
      if (random() % 2 == 0) job.stride = draw(random, 1, 300);
    }
    Trial(jobs,
          {Gate::random(random), Gate::random(random), Gate::random(random), Gate::random(random)},
          draw(random, 1, 60))();
  });
}

}  // namespace
}  // namespace gemm64::rtl_test

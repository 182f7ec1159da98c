// SPDX-License-Identifier: Apache-2.0
#include <Vreader_n4.h>
#include <Vreader_sets.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 4;
constexpr unsigned kBursts = 2;
constexpr unsigned kWords = 37;     // of the buffer
constexpr unsigned kMaxBeats = 16;  // of a burst

struct Command {
  std::uint64_t address;
  unsigned count, passes, blocks;
  bool reserved = false;  // room for all of it was kept before
  unsigned words() const { return count * passes * blocks; }
};

struct Gates {
  Gate command, request, beat, release;
};

/// A buffer of kWords whose places become free kReleased at once.
template <class Model, unsigned kReleased = 1>
class Trial {
 public:
  Trial(std::vector<Command> commands, Gates gates)
      : commands_(std::move(commands)), gates_(std::move(gates)) {
    for (const Command& command : commands_) {
      for (unsigned word = 0; word < command.words(); ++word) {
        const unsigned block = word / command.count / command.passes;
        words_.push_back(command.address + (block * command.count + word % command.count) * kN);
        tags_.push_back(40u + static_cast<unsigned>(&command - commands_.data()));
        begins_.push_back(word % command.count == 0);
        ends_.push_back(word + 1 == command.words());
      }
    }
    bench->stop_i = 0;
  }

  /// Every word is asked for once, in order; then all is idle.
  void operator()() {
    while (answered_ < words_.size()) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    clock();
    EXPECT_EQ(bench->idle_o, 1);
  }

  void clock() {
    const bool command = sent_ < commands_.size() && (waits_ || gates_.command());
    const Command c = command ? commands_[sent_] : Command{4096, 1, 1, 1};
    bench->command_valid_i = command;
    bench->command_address_i = c.address;
    bench->command_run_i = c.count;
    bench->command_count_i = 1;
    bench->command_stride_i = 0;
    bench->command_step_i = c.count;
    bench->command_passes_i = c.passes;
    bench->command_blocks_i = c.blocks;
    bench->command_tag_i = static_cast<std::uint16_t>(40 + sent_);
    bench->command_kept_i = c.reserved;
    bench->released_i = kept >= kReleased && gates_.release();
    bench->request_ready_i = gates_.request();
    bench->beat_i = !bursts_.empty() && gates_.beat();
    bench->beat_last_i = !bursts_.empty() && bursts_.front().beats == 1;
    bench->beat_error_i = answered_ == error_beat;
    bench.settle();

    const bool valid = bench->request_valid_o;
    stays_(valid || bench->stop_i, bench->request_ready_i || bench->stop_i,
           {bench->request_address_o, bench->request_beats_o});
    if (valid) {
      check_burst(bench->request_address_o, bench->request_beats_o - 1, 2, 1, kN);
      ASSERT_LE(asked + bench->request_beats_o, words_.size());
      EXPECT_EQ(bench->request_address_o, words_[asked]);
      EXPECT_EQ(tags_[asked], tags_[asked + bench->request_beats_o - 1]) << "of two commands";
      EXPECT_LE(bench->request_beats_o, kMaxBeats);
      if (!commands_[tags_[asked] - 40].reserved) {
        EXPECT_LE(coming_ + bench->request_beats_o + kept, kWords) << "no room for it";
      }
      EXPECT_LT(bursts_.size(), kBursts);
      EXPECT_EQ(bench->stop_i, 0);
    }
    EXPECT_EQ(bench->asking_o, asked < promised_);
    EXPECT_EQ(bench->pending_o, !bursts_.empty());
    EXPECT_EQ(bench->idle_o, bursts_.empty() && asked == promised_);
    const bool error = bench->beat_i && bench->beat_error_i;
    EXPECT_EQ(bench->error_o, error);
    if (error) {
      EXPECT_EQ(bench->error_tag_o, tags_[answered_]);
    }
    if (bench->beat_i) {
      EXPECT_EQ(bench->beat_first_o, bursts_.front().first) << answered_;
      EXPECT_EQ(bench->beat_end_o, bursts_.front().end) << answered_;
      EXPECT_EQ(bench->beat_kept_o, bursts_.front().reserved) << answered_;
    }

    waits_ = command && !bench->command_ready_o;
    if (command && !waits_) promised_ += c.words(), ++sent_;
    if (bench->beat_i) {
      ++answered_;
      kept += !bursts_.front().reserved;
      coming_ -= !bursts_.front().reserved;
      if (--bursts_.front().beats == 0) bursts_.pop_front();
    }
    if (valid && bench->request_ready_i) {
      const bool reserved = commands_[tags_[asked] - 40].reserved;
      const std::size_t last = asked + bench->request_beats_o - 1;
      bursts_.push_back({bench->request_beats_o, begins_[asked], ends_[last], reserved});
      if (!reserved) coming_ += bench->request_beats_o;
      asked += bench->request_beats_o;
    }
    kept -= bench->released_i * kReleased;
    bench.edge();
  }

  Bench<Model> bench;
  std::size_t asked = 0;  // words
  unsigned kept = 0;      // words in the buffer
  std::size_t error_beat = ~std::size_t{0};

 private:
  struct Burst {
    unsigned beats;  // that are to come
    bool first, end, reserved;
  };

  std::vector<Command> commands_;
  Gates gates_;
  std::vector<std::uint64_t> words_;  // addresses, in order
  std::vector<unsigned> tags_;        // the command of each
  std::vector<bool> begins_, ends_;   // a run; its command
  std::deque<Burst> bursts_;
  std::size_t coming_ = 0;  // words that the buffer has room for
  std::size_t sent_ = 0, promised_ = 0, answered_ = 0;
  bool waits_ = false;
  StaysPut<std::tuple<std::uint64_t, unsigned>> stays_{"request"};
};

using TrialN4 = Trial<Vreader_n4>;
using TrialOfSets = Trial<Vreader_sets, 8>;

const std::vector<Command> kCommands{{4096 - 8, 4, 2, 1}, {0x2000, 1, 1, 3}, {0x3000, 70, 1, 2}};

TEST(Reader, RequestsEachWordOnceUnderStalls) {
  for_all_patterns(4, [](Gate request, Gate beat) {
    TrialN4(kCommands, {Gate(), request, beat, Gate()})();
    TrialOfSets(kCommands, {Gate(), request, beat, Gate()})();
  });
  for_all_patterns(4, [](Gate command, Gate release) {
    TrialN4(kCommands, {command, Gate(), Gate(), release})();
    TrialOfSets(kCommands, {command, Gate(), Gate(), release})();
  });
}

TEST(Reader, AsksAtRandom) {
  for_seeds(1, 60, [](std::mt19937& random) {
    std::vector<Command> commands;
    for (unsigned i = draw(random, 1, 6); i > 0; --i) {
      commands.push_back({draw(random, 0, 4096) * 4ull, draw(random, 1, 100), draw(random, 1, 3),
                          draw(random, 1, 3), random() % 3 == 0});
    }
    TrialN4 trial(commands, {Gate::random(random), Gate::random(random), Gate::random(random),
                             Gate::random(random)});
    trial.error_beat = draw(random, 0, 50);
    trial();
  });
}

TEST(Reader, FirstRequestComesAClockAfterTheCommand) {
  TrialN4 trial({{0, 1, 1, 1}}, {});
  trial.clock();
  EXPECT_EQ(trial.asked, 0u);
  trial.clock();
  EXPECT_EQ(trial.asked, 1u);
}

TEST(Reader, RequestsNothingWhileBufferIsFull) {
  TrialN4 trial({{0, 1000, 1, 1}}, {Gate(), Gate(), Gate(), Gate(0, 1)});
  for (unsigned t = 0; t < 100; ++t) trial.clock();
  EXPECT_EQ(trial.asked, 2 * kMaxBeats) << "of the 5 places left no burst can be kept";
  EXPECT_EQ(trial.kept, 2 * kMaxBeats);
  EXPECT_EQ(trial.bench->pending_o, 0);
  EXPECT_EQ(trial.bench->asking_o, 1);
}

TEST(Reader, StopEndsAfterOutstandingRequests) {
  TrialN4 trial({{0, 1000, 1, 1}}, {});
  for (unsigned t = 0; t < 5; ++t) trial.clock();
  EXPECT_EQ(trial.asked, 2 * kMaxBeats);
  trial.bench->stop_i = 1;
  for (unsigned t = 0; t < 300; ++t) trial.clock();
  EXPECT_EQ(trial.asked, 2 * kMaxBeats);
  EXPECT_EQ(trial.bench->pending_o, 0);
}

TEST(Reader, AWalkWhoseRoomWasKeptWaitsForNone) {
  TrialN4 trial({{0, 60, 1, 1}, {0x1000, 300, 1, 1, true}}, {Gate(), Gate(), Gate(), Gate(1, 64)});
  while (trial.asked < 60) trial.clock();
  const std::uint64_t begin = trial.bench.clock();
  while (trial.asked < 360) trial.clock();
  EXPECT_LE(trial.bench.clock() - begin, 320u) << "a word per cycle";
}

}  // namespace
}  // namespace gemm64::rtl_test

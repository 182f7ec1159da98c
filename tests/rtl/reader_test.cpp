// SPDX-License-Identifier: Apache-2.0
#include <Vreader_n4.h>
#include <Vreader_sets.h>
#include <Vreader_spare.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 4;
constexpr unsigned kBursts = 2;
constexpr unsigned kWords = 37;     // of the buffer
constexpr unsigned kMaxBeats = 16;  // of a burst
constexpr unsigned kSpare = 17;     // words of the buffer that the tensor memory takes
constexpr std::uint64_t kTensorHalf = std::uint64_t{1} << 39;

struct Command {
  std::uint64_t address;
  unsigned count, passes, blocks;
  bool reserved = false;  // room for all of it was kept before
  unsigned words() const { return count * passes * blocks; }
};

struct Gates {
  Gate command, request, beat, release;
};

/// A buffer of kWords whose places become free kReleased at once; with `tensor` the upper half of
/// the address space is the tensor memory, and `capacity` is what the buffer then has.
template <class Model, unsigned kReleased = 1, unsigned kLongest = kMaxBeats>
class Trial {
 public:
  Trial(std::vector<Command> commands, Gates gates, bool tensor = false, unsigned capacity = kWords)
      : commands_(std::move(commands)),
        gates_(std::move(gates)),
        tensor_(tensor),
        capacity_(capacity) {
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
    bench->tensor_i = tensor_;
    bench.reset();  // the buffer's capacity is set then
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
      EXPECT_LE(bench->request_beats_o, kLongest);
      if (!commands_[tags_[asked] - 40].reserved) {
        EXPECT_LE(coming_ + bench->request_beats_o + kept, capacity_) << "no room for it";
      }
      EXPECT_LT(bursts_.size(), kBursts);
      EXPECT_EQ(bench->stop_i, 0);
      const bool tensor = tensor_ && words_[asked] >= kTensorHalf;
      EXPECT_EQ(bench->request_tensor_o, tensor);
      for (const Burst& burst : bursts_) {
        EXPECT_EQ(burst.tensor, tensor) << "bursts of two memories in flight";
        both_in_flight += burst.tensor;
      }
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
      bursts_.push_back({bench->request_beats_o, begins_[asked], ends_[last], reserved,
                         tensor_ && words_[asked] >= kTensorHalf});
      if (!reserved) coming_ += bench->request_beats_o;
      asked += bench->request_beats_o;
    }
    kept -= bench->released_i * kReleased;
    bench.edge();
  }

  Bench<Model> bench;
  std::size_t asked = 0;        // words
  unsigned kept = 0;            // words in the buffer
  unsigned both_in_flight = 0;  // requests to the tensor memory while one was in flight
  std::size_t error_beat = ~std::size_t{0};

 private:
  struct Burst {
    unsigned beats;  // that are to come
    bool first, end, reserved, tensor;
  };

  std::vector<Command> commands_;
  Gates gates_;
  bool tensor_;
  unsigned capacity_;
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
using TrialOfSpare = Trial<Vreader_spare, 1, 4>;

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

TEST(Reader, LeavesTheSpareToTheTensorMemory) {
  for (const bool tensor : {false, true}) {
    const unsigned capacity = tensor ? kWords - kSpare : kWords;
    TrialOfSpare trial({{0, 100, 1, 1}}, {Gate(), Gate(), Gate(), Gate(0, 1)}, tensor, capacity);
    for (unsigned t = 0; t < 100; ++t) trial.clock();
    EXPECT_EQ(trial.asked, capacity / 4 * 4) << "bursts of 4 words";
  }
}

TEST(Reader, AsksOneOfTwoMemoriesAtATime) {
  unsigned both = 0;
  for_seeds(1, 60, [&](std::mt19937& random) {
    const bool tensor = random() % 4 != 0;
    std::vector<Command> commands;
    for (unsigned i = draw(random, 2, 8); i > 0; --i) {
      const std::uint64_t half = random() % 2 == 0 ? kTensorHalf : 0;
      commands.push_back({half + draw(random, 0, 4096) * 4ull, draw(random, 1, 20),
                          draw(random, 1, 2), draw(random, 1, 2), random() % 3 == 0});
    }
    TrialOfSpare trial(
        commands,
        {Gate::random(random), Gate::random(random), Gate::random(random), Gate::random(random)},
        tensor, tensor ? kWords - kSpare : kWords);
    trial();
    both += trial.both_in_flight;
  });
  EXPECT_GT(both, 100u) << "bursts of one memory overlap";
}

}  // namespace
}  // namespace gemm64::rtl_test

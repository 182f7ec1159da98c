// SPDX-License-Identifier: Apache-2.0
// The scratchpad as planes of pixels: chunks that go around, room for them, claims and frees, and
// the change between windows and products.
#include <Vactivations_n4.h>

#include "tests/rtl/load_trial.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 4;
constexpr unsigned kWords = 67;
constexpr unsigned kBursts = 2;

struct Load {
  bool window, start;
  std::uint64_t address;
  unsigned rows, count, stride, capacity, slot, place;
};

/// A word that is asked for: what must have been freed by then of this layer or product, and
/// whether all of those before must have been.
struct Word {
  std::uint64_t address;
  unsigned freed;    // pixels or words, those of all layers and products before included
  unsigned command;  // which brings it
};

struct Read {
  bool window, inside;
  std::uint64_t address;  // what is read; 0 beyond the border
  unsigned place, zero;
  unsigned claim;          // words; 0: none
  unsigned freed;          // pixels, or a word of a product
  unsigned unclaimed = 0;  // words that the claim leaves out
};

/// The loads and the reads, made in parallel.
class Work {
 public:
  /// A layer: chunks of some pixels, of which some are freed when a few of those kept have been
  /// read.
  void add_layer(std::mt19937& random) {
    const unsigned planes = draw(random, 1, 4);
    const unsigned capacity = draw(random, 1, kWords / planes);
    const unsigned pixels = draw(random, 1, 3 * capacity);
    const std::uint64_t address = draw(random, 0, 4096) * std::uint64_t{kN};
    const unsigned before = freed_;
    ring_words_ = 0;
    bool start = true;
    for (unsigned loaded = 0, freed = 0; freed < pixels;) {
      const unsigned room = std::min(pixels - loaded, capacity - (loaded - freed));
      const unsigned chunk = room == 0 ? 0 : draw(random, loaded == freed ? 1 : 0, room);
      if (chunk > 0) {
        const unsigned split = draw(random, 1, planes);  // the planes of a first command
        for (unsigned plane = 0; plane < planes; plane = plane == 0 ? split : planes) {
          const unsigned count = plane == 0 ? split : planes - split;
          if (count == 0) continue;
          loads.push_back({true, start && plane == 0, address + (plane * pixels + loaded) * kN,
                           chunk, count, pixels, capacity, loaded % capacity, plane * capacity});
          for (unsigned p = plane; p < plane + count; ++p) {
            for (unsigned i = loaded; i < loaded + chunk; ++i) {
              const unsigned end = loaded + chunk;  // there must be room for all
              words.push_back({address + (p * pixels + i) * kN,
                               before + (end > capacity ? end - capacity : 0),
                               static_cast<unsigned>(loads.size()) - 1});
            }
          }
        }
        start = false;
      }
      loaded += chunk;
      for (unsigned plane = 0; plane < planes; ++plane) {
        for (unsigned i = draw(random, 1, 4); i > 0; --i) {
          const unsigned pixel = draw(random, freed, loaded - 1);
          const bool inside = random() % 4 != 0;
          reads.push_back({true, inside, address + (plane * pixels + pixel) * kN,
                           plane * capacity + pixel % capacity, draw(random, 0, 255), 0, 0});
          if (claim_next_) reads.back().claim = chunk;
          claim_next_ = false;
        }
        claim_next_ = true;
      }
      const unsigned kept = loaded - freed;
      const unsigned let_go = loaded == pixels && random() % 2 == 0
                                  ? kept
                                  : draw(random, kept == capacity ? 1 : 0, kept);
      reads.back().freed = let_go;
      freed += let_go;
      freed_ += let_go;
    }
  }

  void add_product(std::mt19937& random) {
    const unsigned rows = draw(random, 1, 90);
    const std::uint64_t address = draw(random, 0, 4096) * std::uint64_t{kN};
    loads.push_back({false, random() % 2 != 0, address, rows, 1, rows, draw(random, 0, 9), 3, 5});
    if (ring_words_ == 0) ring_begin_ = freed_;
    for (unsigned i = 0; i < rows; ++i) {
      ++ring_words_;  // with those of the products just before
      words.push_back({address + i * kN,
                       ring_begin_ + (ring_words_ < kWords ? 0 : ring_words_ - kWords),
                       static_cast<unsigned>(loads.size()) - 1});
      reads.push_back({false, false, address + i * kN, 0, 0, 0, 1});
    }
    freed_ += rows;
    claim_next_ = true;
  }

  std::vector<Load> loads;
  std::vector<Word> words;
  std::vector<Read> reads;

 private:
  unsigned ring_begin_ = 0, ring_words_ = 0;
  unsigned freed_ = 0;      // up to the end of what was added last
  bool claim_next_ = true;  // the next read of a window is the first of its plane
};

struct Gates {
  Gate command, request, data, read;
};

class Trial : public LoadTrial<Vactivations_n4, kN, kBursts> {
 public:
  Trial(Work work, Gates gates, unsigned latency)
      : LoadTrial(latency), work_(std::move(work)), gates_(std::move(gates)) {
    bench->read_i = bench->command_valid_i = 0;
    bench->claim_i = bench->free_i = 0;
  }

  void operator()() {
    while (read_ < work_.reads.size()) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    bench->read_i = bench->beat_i = bench->claim_i = bench->free_i = 0;
    bench.settle();
    EXPECT_EQ(bench->idle_o, 1) << "nothing to load, nothing kept";
    EXPECT_EQ(bench->quiet_o, 1);
    EXPECT_EQ(asked, work_.words.size());
    EXPECT_FALSE(unbalanced) << "each word was claimed";
  }

  bool unbalanced = false;  // in any cycle

 private:
  void drive() override {
    const bool command = drive_command(work_.loads.size(), gates_.command, 0);
    const Load load = work_.loads[command ? sent_ : 0];
    set_address(load.address);
    bench->command_i[0] =
        static_cast<std::uint32_t>(load.rows) << 16 | load.window << 11 | load.start << 12;
    bench->command_i[1] = load.count;
    bench->command_i[7] = load.stride;
    bench->command_i[2] = bench->command_i[3] = 1;
    bench->command_i[14] = static_cast<std::uint32_t>(load.slot << 16 | load.capacity);
    bench->command_i[15] = load.place;
    drive_memory(gates_.request, gates_.data);

    const Read read = read_ < work_.reads.size() ? work_.reads[read_] : Read{};
    const bool there = read_ < work_.reads.size() && ahead_ >= (read.window ? read.claim : 1);
    bench->read_i = there && gates_.read();
    bench->window_i = read.window;
    bench->place_i = read.place;
    bench->inside_i = read.inside;
    bench->release_i = read.window ? bench.clock() % 2 : 1;  // means nothing to a window
    bench->rewind_i = read.window ? bench.clock() % 2 : 0;
    bench->zero_i = static_cast<std::uint8_t>(last_zero_);
    bench->claim_i = bench->read_i && read.claim > 0;
    bench->new_i = static_cast<std::uint16_t>(read.window ? read.claim - read.unclaimed : 9);
    bench->free_i = bench->read_i && read.window && read.freed > 0;
    bench->freed_i = static_cast<std::uint16_t>(read.freed);
  }

  void check() override {
    EXPECT_EQ(bench->ahead_o, ahead_) << "cycle " << bench.clock();
    if (read_ > 0) {
      const Read& last = work_.reads[read_ - 1];
      if (last.window && !last.inside) {
        for (unsigned i = 0; i < kN; ++i) {
          EXPECT_EQ(lane<std::uint8_t>(bench->word_o, i), last_zero_) << read_;
        }
      } else {
        EXPECT_TRUE(is_memory_word(bench->word_o, last.address)) << read_;
      }
    }
    if (bench->request_valid_o) {
      ASSERT_LE(asked + bench->request_beats_o, work_.words.size());
      for (std::size_t i = asked; i < asked + bench->request_beats_o; ++i) {
        EXPECT_EQ(bench->request_address_o + (i - asked) * kN, work_.words[i].address) << i;
        EXPECT_GE(freed_, work_.words[i].freed) << "no room for word " << i;
        EXPECT_EQ(work_.words[i].command, work_.words[asked].command) << "of two commands";
      }
    }
    const bool promised =
        sent_ > 0 && (arrived_ < work_.words.size()) && work_.words[arrived_].command < sent_;
    EXPECT_EQ((bench->causes_o >> 3 & 1), !promised);
  }

  void account() override {
    unbalanced |= bench->unbalanced_o != 0;
    ahead_ += bench->beat_i;
    if (bench->read_i) {
      const Read& read = work_.reads[read_++];
      ahead_ -= read.window && read.claim > 0 ? read.claim - read.unclaimed : !read.window;
      freed_ += read.freed;
      last_zero_ = read.zero;
    }
  }

  Work work_;
  Gates gates_;
  unsigned ahead_ = 0, freed_ = 0, last_zero_ = 0;
  std::size_t read_ = 0;
};

Gates random_gates(std::mt19937& random) {
  return {Gate::random(random), Gate::random(random), Gate::random(random), Gate::random(random)};
}

TEST(ActivationsOfWindows, AreReadWhereLoaded) {
  for_seeds(1, 200, [](std::mt19937& random) {
    Work work;
    work.add_layer(random);
    Trial(work, random_gates(random), draw(random, 1, 60))();
  });
}

TEST(ActivationsOfWindows, FollowProducts) {
  for_seeds(1, 300, [](std::mt19937& random) {
    Work work;
    for (unsigned i = draw(random, 2, 6); i > 0; --i) {
      random() % 3 == 0 ? work.add_product(random) : work.add_layer(random);
    }
    Trial(work, random_gates(random), draw(random, 1, 60))();
  });
}

TEST(ActivationsOfWindows, BusErrorNamesCommand) {
  for_seeds(1, 30, [](std::mt19937& random) {
    Work work;
    work.add_layer(random);
    Trial trial(work, random_gates(random), 9);
    trial.error_beat = random() % work.words.size();
    trial();
    EXPECT_EQ(trial.errors, std::vector<unsigned>{work.words[trial.error_beat].command});
  });
}

/// Layers of three pixels, all of which are claimed and freed but for the last layer, where `claim`
/// are claimed and `freed` are freed with the second read; then `load`, if there is one.
std::unique_ptr<Trial> left_over(unsigned claim, unsigned freed, const Load* load = nullptr,
                                 unsigned layers = 1) {
  Work work;
  for (unsigned layer = 0; layer < layers; ++layer) {
    const std::uint64_t address = layer * 64;
    work.loads.push_back({true, true, address, 3, 1, 3, 4, 0, 0});
    for (unsigned i = 0; i < 3; ++i) work.words.push_back({address + i * kN, 3 * layer, layer});
    const bool last = layer + 1 == layers;
    work.reads.push_back({true, true, address, 0, 0, 3, 0, last ? 3 - claim : 0});
    work.reads.push_back({true, true, address + kN, 1, 0, 0, last ? freed : 3});
  }
  if (load != nullptr) work.loads.push_back(*load);
  for (unsigned i = 0; load != nullptr && i < load->rows; ++i) {
    work.words.push_back({load->address + i * kN, 3 * layers, layers});
  }
  auto trial = std::make_unique<Trial>(work, Gates{}, 5);
  for (unsigned t = 0; t < 60 * layers && !testing::Test::HasFailure(); ++t) trial->clock();
  return trial;
}

TEST(ActivationsOfWindows, StayUntilFreed) {
  const auto done = left_over(3, 3);
  EXPECT_EQ(done->bench->idle_o, 1);
  EXPECT_EQ(done->bench->left_o, 0);
  for (const auto& [claim, freed] : {std::pair{3u, 2u}, {2u, 3u}, {1u, 1u}}) {
    for (unsigned layers = 1; layers < 10; ++layers) {  // any place of the queue is next
      const auto trial = left_over(claim, freed, nullptr, layers);
      EXPECT_EQ(trial->bench->idle_o, 0) << claim << " claimed, " << freed << " freed";
      EXPECT_EQ(trial->bench->left_o, 1);
      EXPECT_FALSE(trial->unbalanced) << "no load follows";
    }
  }
}

TEST(ActivationsOfWindows, AreOfTheirLayerOnly) {
  for (const bool window : {true, false}) {
    const Load next{window, window, 256, 2, 1, 2, 4, 0, 0};
    const auto trial = left_over(2, 3, &next);
    EXPECT_EQ(trial->bench->unbalanced_o, 1);
    EXPECT_EQ(trial->bench->unbalanced_tag_o, 1);
    EXPECT_EQ(trial->asked, 3u) << "the load does not begin";
  }
}

// More pixels of the same layer may find words that are claimed later, even if none is kept.
TEST(ActivationsOfWindows, UnclaimedIfMoreIsLoaded) {
  const Load more{true, false, 256, 2, 1, 2, 4, 3, 0};
  const auto trial = left_over(2, 3, &more);
  EXPECT_EQ(trial->asked, 5u);
  EXPECT_FALSE(trial->unbalanced);
}

// A pixel is freed in one cycle; in the next the walk that waits for its place begins, and a cycle
// later its burst is asked for.
TEST(ActivationsOfWindows, RequestedTwoCyclesLater) {
  Work work;
  for (const unsigned slot : {0u, 1u}) {
    work.loads.push_back({true, slot == 0, slot * 64, 3, 1, 6, 4, slot * 3, 0});
    for (unsigned i = 0; i < 3; ++i) work.words.push_back({slot * 64 + i * kN, slot * 2, slot});
  }
  work.reads = {{true, true, 0, 0, 0, 3, 1}, {true, true, 4, 1, 0, 0, 1}};
  Trial trial(work, {}, 5);
  do trial.clock();
  while (trial.bench->free_i == 0);  // one place: too few
  do {
    trial.clock();
    EXPECT_EQ(trial.asked, 3u);
  } while (trial.bench->free_i == 0);  // the second
  EXPECT_EQ(trial.bench->request_valid_o, 0) << "a cycle later";
  trial.clock();
  EXPECT_EQ(trial.bench->request_valid_o, 1) << "two cycles later";
}

}  // namespace
}  // namespace gemm64::rtl_test

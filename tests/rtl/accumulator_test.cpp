// SPDX-License-Identifier: Apache-2.0
#include <Vaccumulator_n2.h>
#include <Vaccumulator_n4.h>

#include <optional>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

using Row = std::vector<std::uint32_t>;

struct Job {
  unsigned rows = 1;
  unsigned tiles = 1;
  unsigned blocks = 4;
  bool largest = false;  // every sum as large as an array of 64 rows can make it
};

/// Fills blocks in turn in the two banks, and reads each back as soon as it is done, as compute and
/// results do: a block waits for its bank, its first tile row by row for the store of the old
/// block, and a row comes again after two cycles at the earliest.
template <class Model, unsigned kN, unsigned kDelay>
class Trial {
 public:
  Trial(const Job& job, Gate fill, Gate store, std::mt19937& random)
      : job_(job), fill_(fill), store_(store), random_(random) {}

  void operator()() {
    while (stored_ < job_.blocks && !testing::Test::HasFailure()) {
      request();
      sums();
      read();
      bench_.settle();
      check();
      bench_.edge();
    }
  }

  bool followed() const { return followed_; }

 private:
  void request() {
    const bool last_row = row_ + 1 == job_.rows;
    const bool last_tile = tile_ + 1 == job_.tiles;
    const bool again_too_soon = tile_ > 0 && bench_.clock() < requested_[row_] + 2;
    const bool follows = block_ == stored_ + 2 && tile_ == 0 && row_ < store_row_;
    const bool place = block_ < stored_ + 2 || follows;
    const bool ask = fill_() && block_ < job_.blocks && place && !again_too_soon;
    bench_->valid_i = ask;
    bench_->lanes_valid_i = bench_->lanes_last_i = 0;
    bench_->first_i = ask ? tile_ == 0 : random_() % 2;
    bench_->last_i = ask ? last_row && last_tile : random_() % 2;
    bench_->bank_i = ask ? block_ % 2 : random_() % 2;
    bench_->row_i = static_cast<std::uint8_t>(ask ? row_ : random_() % job_.rows);
    if (!ask) return;
    followed_ |= follows;
    requested_[row_] = bench_.clock();
    if (blocks_.size() == block_) blocks_.emplace_back(job_.rows, Row(kN));
    for (unsigned c = 0; c < kN; ++c) {
      const std::uint32_t sum =
          job_.largest ? 64u * 128 * 128 : static_cast<std::uint32_t>(random_());
      due_[{bench_.clock() + kDelay + 1 + c, c}] = sum;
      blocks_[block_][row_][c] += sum;
    }
    row_ = last_row ? 0 : row_ + 1;
    if (!last_row) return;
    tile_ = last_tile ? 0 : tile_ + 1;
    if (!last_tile) return;
    done_at_.push_back(bench_.clock() + kDelay + kN);
    ++block_;
  }

  void sums() {
    for (unsigned c = 0; c < kN; ++c) {
      const auto due = due_.find({bench_.clock(), c});
      set_lane(bench_->sum_i, c,
               due != due_.end() ? due->second : static_cast<std::uint32_t>(random_()));
    }
  }

  void read() {
    willing_ = store_();
    reads_ = willing_ && stored_ < done_ && store_row_ < job_.rows;
    bench_->storing_i = reads_ || random_() % 4 == 0;
    bench_->store_read_i = reads_;
    bench_->store_row_i = static_cast<std::uint8_t>(reads_ ? store_row_ : random_() % job_.rows);
    bench_->store_bank_i = reads_ ? stored_ % 2 : random_() % 2;
  }

  void check() {
    const bool due = !done_at_.empty() && done_at_.front() == bench_.clock();
    EXPECT_EQ(bench_->done_o, due) << "cycle " << bench_.clock();
    if (due) {
      done_at_.pop_front();
      ++done_;
    }
    if (held_) {
      for (unsigned c = 0; c < kN; ++c) {
        EXPECT_EQ(lane<std::uint32_t>(bench_->store_data_o, c), (*held_)[c])
            << "block " << stored_ << " column " << c << " in cycle " << bench_.clock();
      }
    }
    if (reads_) {
      held_ = blocks_[stored_][store_row_++];
    } else if (willing_ && store_row_ == job_.rows) {  // the last row was seen: the bank is free
      held_.reset();
      store_row_ = 0;
      ++stored_;
    }
  }

  Job job_;
  Gate fill_, store_;
  std::mt19937& random_;
  Bench<Model> bench_;
  unsigned block_ = 0, tile_ = 0, row_ = 0;         // next request
  unsigned done_ = 0, stored_ = 0, store_row_ = 0;  // blocks, rows read
  bool willing_ = false, reads_ = false;
  bool followed_ = false;  // a row took the place of one that was stored, with others still there
  std::map<unsigned, std::uint64_t> requested_;
  std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t> due_;
  std::vector<std::vector<Row>> blocks_;
  std::deque<std::uint64_t> done_at_;
  std::optional<Row> held_;  // what store_data_o must show
};

using TrialN2 = Trial<Vaccumulator_n2, 2, 2>;
using TrialN4 = Trial<Vaccumulator_n4, 4, 3>;

TEST(Accumulator, AddsTilesInBothBanksAcrossGaps) {
  std::mt19937 random(1);
  for (const Job& job : {Job{1, 1}, Job{1, 3}, Job{2, 2}, Job{2, 5}}) {
    SCOPED_TRACE(std::to_string(job.rows) + " rows, " + std::to_string(job.tiles) + " tiles");
    for_all_patterns(4, [&](Gate fill, Gate store) {
      TrialN2(job, fill, store, random)();
      TrialN4(job, fill, store, random)();
    });
  }
}

TEST(Accumulator, KeepsSumsWhileTheOtherBankFills) {
  std::mt19937 random(2);
  // One read in six cycles: the second block is complete long before the first is read.
  TrialN4({8, 3, 6}, Gate(), Gate(1, 6), random)();
  TrialN2({2, 9, 6}, Gate(), Gate(1, 6), random)();
}

TEST(Accumulator, FillsABankBehindItsStore) {
  std::mt19937 random(5);
  for (const unsigned tiles : {1u, 2u}) {
    TrialN4 run({8, tiles, 6}, Gate(), Gate(1, 3), random);
    run();
    EXPECT_TRUE(run.followed());
  }
}

TEST(Accumulator, UsesEveryRowOfABank) {
  std::mt19937 random(3);
  TrialN2({2, 4, 6}, Gate(), Gate(), random)();
  TrialN4({8, 4, 6}, Gate(), Gate(), random)();
}

TEST(Accumulator, HoldsTheLargestSumsOfAK9216Column) {
  std::mt19937 random(4);
  TrialN4({8, 144, 2, true}, Gate(), Gate(), random)();  // 144 tiles of 64 products of 2^14
}

TEST(Accumulator, AddsAnyBlocksAtRandom) {
  for_seeds(1, 200, [](std::mt19937& random) {
    const Job job{draw(random, 1, 8), draw(random, 1, 6), draw(random, 1, 6)};
    TrialN4(job, Gate::random(random), Gate::random(random), random)();
    TrialN2({1 + job.rows % 2, job.tiles, job.blocks}, Gate::random(random), Gate::random(random),
            random)();
  });
}

TEST(Accumulator, ResetForgetsBlocksUnderWay) {
  Bench<Vaccumulator_n4> bench;
  bench->valid_i = bench->last_i = 1;
  for (unsigned t = 0; t < 4; ++t) bench.step();
  bench->valid_i = 0;
  bench->rst_ni = 0;
  bench.step();  // one cycle is enough, as a soft reset gives no more
  bench->rst_ni = 1;
  for (unsigned t = 0; t < 20; ++t) {
    bench.settle();
    EXPECT_EQ(bench->done_o, 0) << t;
    bench.edge();
  }
}

}  // namespace
}  // namespace gemm64::rtl_test

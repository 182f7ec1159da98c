// SPDX-License-Identifier: Apache-2.0
#include <Vresults_n4.h>
#include <Vresults_n8.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <vector>

#include "host/device/registers.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

/// A STORE; of no rows: a snapshot.
struct Store {
  std::uint64_t address;
  unsigned rows, count;
  bool snapshot() const { return rows == 0; }
};

struct Gates {
  Gate command, block, address, data, response;
};

/// The engine between an accumulator of two banks and a memory. Blocks are complete in turn in each
/// bank; byte i of row r of block b is memory_byte() of the place where it must lie in the end.
template <class Model, unsigned kN, unsigned kBursts>
class Trial {
 public:
  Trial(std::vector<Store> stores, Gates gates, unsigned latency)
      : stores_(std::move(stores)), gates_(std::move(gates)), latency_(latency) {
    for (const Store& store : stores_) {
      if (store.snapshot()) {
        pieces_.push_back({store.address, kSnapshotBeats, true});
        continue;
      }
      for (unsigned b = 0; b < store.count; ++b) {
        blocks_.push_back(store.address + std::uint64_t{b} * store.rows * 4 * kN);
        pieces_.push_back({blocks_.back(), store.rows * 4, false});
      }
      ends_.insert(blocks_.back() + store.rows * 4 * kN);
    }
    bench->stop_i = bench->command_valid_i = bench->bvalid_i = bench->block_done_i = 0;
  }

  void operator()() {
    while (sent_pieces_ < pieces_.size() || !bench->idle_o) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(bench->quiet_o, 1);
    std::size_t bytes = 0;
    for (const Piece& piece : pieces_) bytes += piece.beats * kN;
    EXPECT_EQ(written_, bytes);
    EXPECT_EQ(answered_, offered);
  }

  void clock() {
    drive();
    bench.settle();
    check();
    account();
    bench.edge();
  }

  Bench<Model> bench{400000};
  unsigned offered = 0;  // bursts whose address was shown
  unsigned error_burst = ~0u;
  std::vector<unsigned> errors;                             // tags
  std::vector<std::uint64_t> done_at, address_at, data_at;  // clocks of blocks, bursts, beats
  std::vector<std::uint64_t> taken_at;                      // clocks of snapshots

 private:
  static constexpr unsigned kSnapshotBeats = 28 * 8 / kN;

  struct Burst {
    std::uint64_t address;
    unsigned beats;
  };
  /// A block, or a snapshot.
  struct Piece {
    std::uint64_t address;
    unsigned beats;
    bool snapshot;
  };

  void drive() {
    const bool command = sent_ < stores_.size() && (waits_ || gates_.command());
    const Store store = command ? stores_[sent_] : Store{0, 1, 1};
    bench->command_valid_i = command;
    bench->command_address_i = store.address;
    bench->command_snapshot_i = store.snapshot();
    bench->command_rows_i = static_cast<std::uint16_t>(store.rows);
    bench->command_count_i = store.count;
    bench->command_format_i = static_cast<std::uint8_t>(ResultCode::kInt32);
    bench->command_tag_i = static_cast<std::uint16_t>(40 + sent_);
    bench->block_done_i = done_ < blocks_.size() && done_ < freed_ + 2 && gates_.block();
    bench->awready_i = gates_.address();
    bench->wready_i = gates_.data();
    // bready is always high, so an answer is there for one clock.
    bench->bvalid_i =
        !responses_.empty() && responses_.front() <= bench.clock() && gates_.response();
    bench->berror_i = answered_ == error_burst;
    // The accumulator shows the row that was read last.
    for (unsigned i = 0; i < 4 * kN; ++i) {
      set_lane(bench->row_data_i, i, memory_byte(shown_ + i));
    }
    set_memory_word(bench->snapshot_i, kept_);
  }

  void check() {
    if (bench->awvalid_o && !offering_) {
      check_burst(bench->awaddr_o, bench->awlen_o, bench->awsize_o, bench->awburst_o, kN);
      bursts_.push_back({bench->awaddr_o, bench->awlen_o + 1u});
      ends_store_.push_back(ends_.count(bench->awaddr_o + (bench->awlen_o + 1u) * kN) != 0);
      address_at.push_back(bench.clock());
      ++offered;
    }
    offering_ = bench->awvalid_o && !bench->awready_i;
    address_stays_(bench->awvalid_o, bench->awready_i, {bench->awaddr_o, bench->awlen_o});
    std::vector<std::uint8_t> beat{bench->wlast_o};
    for (unsigned i = 0; i < kN; ++i) beat.push_back(lane<std::uint8_t>(bench->wdata_o, i));
    data_stays_(bench->wvalid_o, bench->wready_i, beat);
    EXPECT_EQ(bench->transfer_o, bench->wvalid_o && bench->wready_i);
    if (bench->wvalid_o) {
      ASSERT_LT(sent_pieces_, pieces_.size());
      const Piece& piece = pieces_[sent_pieces_];
      if (piece.snapshot) {
        ASSERT_TRUE(keeps_);
      } else {
        ASSERT_GT(done_, freed_) << "stored before it was complete";
      }
      ASSERT_FALSE(bursts_.empty()) << "data before its address";
      const std::uint64_t place = piece.address + beat_ * kN;
      EXPECT_EQ(bursts_.front().address + burst_beat_ * kN, place);
      EXPECT_TRUE(is_memory_word(bench->wdata_o, place))
          << "beat " << beat_ << " of piece " << sent_pieces_;
      EXPECT_EQ(bench->wlast_o, burst_beat_ + 1 == bursts_.front().beats);
      EXPECT_EQ(bench->wstrb_o, kN == 8 ? 0xff : 0xf);
    }
    const bool working = sent_pieces_ < promised_;  // a STORE or a snapshot is under way
    const bool due = answered_ < offered;           // a write is not answered yet
    EXPECT_EQ(bench->transfer_o + bench->wait_memory_o + bench->wait_compute_o +
                  bench->wait_response_o + bench->idle_clock_o,
              1);
    if (bench->wvalid_o && !bench->wready_i) {
      EXPECT_EQ(bench->wait_memory_o, 1);
    }
    if (working && !bench->wvalid_o && !due) {
      EXPECT_EQ(bench->wait_compute_o, 1);
    }
    EXPECT_EQ(bench->wait_response_o, !working && due);
    EXPECT_EQ(bench->idle_clock_o, !working && !due);
    EXPECT_EQ(bench->idle_o, !working && !due);
    if (bench->quiet_o) {
      EXPECT_FALSE(bench->awvalid_o || bench->wvalid_o || due);
    }
    const bool of_block = bench->transfer_o && !pieces_[sent_pieces_].snapshot;
    EXPECT_EQ(bench->bank_free_o, of_block && beat_ + 1 == pieces_[sent_pieces_].beats);
    EXPECT_EQ(bench->snapshot_next_o, bench->transfer_o && !of_block);
    EXPECT_EQ(bench->snapshot_take_o,
              bench->command_valid_i && bench->command_ready_o && bench->command_snapshot_i);
    EXPECT_FALSE(bench->snapshot_take_o && keeps_) << "the last one has not been sent";
    EXPECT_EQ(bench->store_done_o, bench->bvalid_i && ends_store_.front());
    EXPECT_EQ(bench->error_o, bench->bvalid_i && bench->berror_i);
    if (bench->error_o) errors.push_back(bench->error_tag_o);
  }

  void account() {
    if (bench->row_read_o) {
      const std::size_t block = freed_ + bench->bank_free_o;  // or ahead, the next one's first row
      ASSERT_LT(block, done_) << "read before it was complete";
      EXPECT_EQ(bench->row_bank_o, block % 2);
      EXPECT_EQ(bench->row_o, bench->bank_free_o ? 0 : rows_read_);
      shown_ = blocks_[block] + bench->row_o * 4 * kN;
    }
    EXPECT_EQ(bench->rows_stored_o, rows_read_);
    if (bench->bank_free_o) rows_read_ = 0;
    rows_read_ += bench->row_read_o;
    waits_ = bench->command_valid_i && !bench->command_ready_o;
    if (bench->command_valid_i && !waits_) {
      const Store& store = stores_[sent_++];
      promised_ += store.snapshot() ? 1 : store.count;
    }
    if (bench->block_done_i) {
      ++done_;
      done_at.push_back(bench.clock());
    }
    if (bench->bvalid_i) {
      ++answered_;
      responses_.pop_front();
      ends_store_.pop_front();
    }
    addresses_ += bench->awvalid_o && bench->awready_i;
    if (bench->snapshot_next_o) kept_ += kN;
    if (bench->transfer_o) take_beat();
    if (bench->snapshot_take_o) {
      keeps_ = true;
      kept_ = bench->command_address_i;
      taken_at.push_back(bench.clock());
    }
    for (; answerable_ < std::min(addresses_, complete_); ++answerable_) {
      responses_.push_back(bench.clock() + latency_);
    }
  }

  void take_beat() {
    data_at.push_back(bench.clock());
    written_ += kN;
    if (++burst_beat_ == bursts_.front().beats) {
      burst_beat_ = 0;
      bursts_.pop_front();
      ++complete_;
    }
    const Piece& piece = pieces_[sent_pieces_];
    if (++beat_ == piece.beats) {
      beat_ = 0;
      ++sent_pieces_;
      if (piece.snapshot) {
        keeps_ = false;
      } else {
        ++freed_;
      }
    }
  }

  std::vector<Store> stores_;
  Gates gates_;
  unsigned latency_;
  std::vector<Piece> pieces_;          // in the order in which they are sent
  std::vector<std::uint64_t> blocks_;  // addresses of those that are blocks
  std::set<std::uint64_t> ends_;       // addresses after each STORE
  std::deque<bool> ends_store_;        // for each burst that is not answered: the last of a STORE?
  std::uint64_t kept_ = 0;             // address of the snapshot's next beat
  bool keeps_ = false;                 // a snapshot that has not been sent
  std::uint64_t shown_ = 0;            // where the row lies in the end that was read last
  unsigned rows_read_ = 0;             // of the block under way
  std::deque<Burst> bursts_;           // offered, their data not complete
  std::deque<std::uint64_t> responses_;  // clocks in which answers are due
  std::size_t sent_ = 0, promised_ = 0;  // commands, and their pieces
  std::size_t sent_pieces_ = 0;
  std::size_t done_ = 0, freed_ = 0, written_ = 0;
  unsigned beat_ = 0, burst_beat_ = 0;  // of the piece, of the burst
  unsigned addresses_ = 0, complete_ = 0, answerable_ = 0, answered_ = 0;  // bursts
  bool waits_ = false, offering_ = false;                                  // a command, an address
  StaysPut<std::tuple<std::uint64_t, unsigned>> address_stays_{"AW"};
  StaysPut<std::vector<std::uint8_t>> data_stays_{"W"};
};

using TrialN4 = Trial<Vresults_n4, 4, 2>;
using TrialN8 = Trial<Vresults_n8, 8, 4>;

TEST(Results, StoreEveryBlockWhateverThePatterns) {
  const std::vector<Store> stores{{4096 - 16, 1, 3}, {0x2000, 3, 2}, {0x3ff8, 2, 2}};
  for_all_patterns(4, [&](Gate data, Gate address) {
    TrialN4(stores, {Gate(), Gate(), address, data, Gate()}, 1)();
    TrialN8(stores, {Gate(), Gate(), address, data, Gate()}, 9)();
  });
  for_all_patterns(4, [&](Gate block, Gate response) {
    TrialN4(stores, {Gate(), block, Gate(), Gate(), response}, 1)();
    TrialN8(stores, {block, block, Gate(), response, response}, 3)();
  });
}

TEST(Results, AddressComesTwoClocksAndDataThreeAfterABlockIsDone) {
  TrialN8 run({{0, 5, 1}}, {Gate(), Gate(1u << 10, 16), Gate(), Gate(), Gate()}, 1);
  run();
  EXPECT_EQ(run.done_at, std::vector<std::uint64_t>{10});
  EXPECT_EQ(run.address_at, std::vector<std::uint64_t>{12});
  ASSERT_EQ(run.data_at.size(), 20u);
  for (unsigned beat = 0; beat < 20; ++beat) EXPECT_EQ(run.data_at[beat], 13u + beat);
}

TEST(Results, BeatsOfABlockOfSeveralBurstsFollowWithoutAGap) {
  TrialN8 run({{4096 - 24, 100, 1}}, {}, 1);  // 3 beats to the page, then 64 at a time
  run();
  EXPECT_EQ(run.offered, 8u);
  ASSERT_EQ(run.data_at.size(), 400u);
  EXPECT_EQ(run.data_at.back() - run.data_at.front(), 399u);
}

TEST(Results, BlocksThatAreCompleteFollowWithoutAGap) {
  TrialN8 run({{0, 5, 4}, {4096, 1, 2}}, {}, 1);
  run();
  ASSERT_EQ(run.data_at.size(), 88u);
  EXPECT_EQ(run.data_at.back() - run.data_at.front(), 87u);
}

// After its two blocks, whose rows go on as if it were not there.
TEST(Results, ASnapshotIsSentInItsTurnWithoutAGap) {
  TrialN8 run({{0, 5, 2}, {0x1000, 0, 0}, {0x2000, 1, 2}}, {}, 1);
  run();
  ASSERT_EQ(run.data_at.size(), 40u + 28 + 8);
  EXPECT_EQ(run.data_at.back() - run.data_at.front(), 75u);
}

TEST(Results, ASnapshotAloneIsThereThreeClocksAfterItsCommand) {
  TrialN4 run({{4096 - 16, 0, 0}}, {Gate(1u << 10, 16), Gate(), Gate(), Gate(), Gate()}, 1);
  run();
  EXPECT_EQ(run.taken_at, std::vector<std::uint64_t>{10});
  EXPECT_EQ(run.address_at, (std::vector<std::uint64_t>{13, 14}));  // cut at 4 KiB
  ASSERT_EQ(run.data_at.size(), 56u);
  for (unsigned beat = 0; beat < 56; ++beat) EXPECT_EQ(run.data_at[beat], 13u + beat);
}

TEST(Results, ASnapshotWaitsUntilTheOneBeforeHasBeenSent) {
  TrialN8 run({{0, 0, 0}, {256, 0, 0}, {4096, 1, 1}}, {}, 1);
  run();
  ASSERT_EQ(run.taken_at.size(), 2u);
  EXPECT_EQ(run.taken_at[1], run.data_at[27] + 1);
}

TEST(Results, NoMoreBurstsAreUnderWayThanTheParameterAllows) {
  TrialN4 run({{0, 16, 9}}, {Gate(), Gate(), Gate(), Gate(), Gate(0, 1)}, 1);
  for (unsigned t = 0; t < 400; ++t) run.clock();
  EXPECT_EQ(run.offered, 2u);
  EXPECT_EQ(run.data_at.size(), 128u) << "but what was announced is sent";
  EXPECT_EQ(run.bench->wait_memory_o, 1);
}

TEST(Results, StopEndsWhatWasAnnouncedAndAnnouncesNothingMore) {
  TrialN4 run({{0, 32, 9}}, {}, 30);
  while (run.data_at.size() < 10) run.clock();
  const unsigned offered = run.offered;
  run.bench->stop_i = 1;
  for (unsigned t = 0; t < 400; ++t) run.clock();
  EXPECT_LE(run.offered, offered + 1);
  EXPECT_EQ(run.data_at.size(), 64 * run.offered);
  EXPECT_EQ(run.bench->quiet_o, 1);
}

TEST(Results, BusErrorNamesTheCommandOfItsBurst) {
  for (unsigned burst = 0; burst < 4; ++burst) {
    TrialN8 run({{0, 1, 2}, {512, 2, 1}, {1024, 1, 1}}, {}, 20);
    run.error_burst = burst;
    run();
    EXPECT_EQ(run.errors, std::vector<unsigned>{burst < 2 ? 40 : 39 + burst}) << burst;
  }
}

TEST(Results, StoreAnythingAtRandom) {
  for_seeds(60, [](std::mt19937& random) {
    std::vector<Store> stores;
    for (unsigned i = draw(random, 1, 5); i > 0; --i) {
      const bool snapshot = draw(random, 0, 3) == 0;
      stores.push_back({(i << 20) + draw(random, 0, 4096) * 8ull,
                        snapshot ? 0 : draw(random, 1, 32), draw(random, 1, 5)});
    }
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random), Gate::random(random)};
    };
    TrialN4(stores, gates(), draw(random, 1, 40))();
    TrialN8(stores, gates(), draw(random, 1, 100))();
  });
}

}  // namespace
}  // namespace gemm64::rtl_test

// SPDX-License-Identifier: Apache-2.0
#include <Vstore_n4.h>
#include <Vstore_n8.h>

#include "host/device/registers.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

/// A STORE; of no rows: a snapshot.
struct Store {
  std::uint64_t address;
  unsigned rows, count;
  ResultCode format = ResultCode::kInt32;
  unsigned blocks = 1;  // of M
  unsigned stride = 0;  // 0: tiles follow each other
  int zero = 0, low = 0, high = 0;
  bool snapshot() const { return rows == 0; }
  bool narrow() const { return !snapshot() && format != ResultCode::kInt32; }
  unsigned row_beats() const { return narrow() ? 1 : 4; }
  unsigned tiles() const { return snapshot() ? 0 : count * blocks; }
};

Store of_8_bits(std::uint64_t address, unsigned rows, unsigned count, unsigned blocks = 1,
                unsigned stride = 0) {
  return {address, rows, count, ResultCode::kInt8, blocks, stride, 3, -100, 120};
}

/// Biases and scales of the `set`-th 8-bit block: what noise there is, and results that differ.
std::int32_t bias_of(std::size_t set, unsigned column) {
  std::uint32_t bias = 0;
  for (unsigned i = 0; i < 4; ++i) {
    bias = bias << 8 | memory_byte(0x5555000000 + (set * 64 + column) * 4 + i);
  }
  return static_cast<std::int32_t>(bias);
}
float scale_of(std::size_t set, unsigned column) {
  return std::ldexp(1.0F + static_cast<float>(memory_byte(0x6666000000 + set * 64 + column)) / 256,
                    -25);
}

/// A result by the formula of the format, in the processor's own floats.
std::uint8_t expected(std::int32_t sum, std::size_t set, unsigned column, const Store& store) {
  const auto biased = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                                static_cast<std::uint32_t>(bias_of(set, column)));
  const float scaled = std::nearbyintf(static_cast<float>(biased) * scale_of(set, column));
  const float result =
      std::min(std::max(scaled + static_cast<float>(store.zero), static_cast<float>(store.low)),
               static_cast<float>(store.high));
  return static_cast<std::uint8_t>(static_cast<int>(result));
}

struct Gates {
  Gate command, block, address, data, response;
  Gate set = {};  // one more set of parameters is there
};

/// The engine between an accumulator of two banks and a memory. Blocks are complete in turn in each
/// bank; byte i of the sums of row r of block b is memory_byte() of a place of its own, which is
/// where an INT32 block must lie in the end.
template <class Model, unsigned kN, unsigned kBursts>
class Trial {
 public:
  Trial(std::vector<Store> stores, Gates gates, unsigned latency)
      : stores_(std::move(stores)), gates_(std::move(gates)), latency_(latency) {
    for (const Store& store : stores_) {
      if (store.snapshot()) {
        pieces_.push_back({store.address, kSnapshotBeats, 0, &store});
        continue;
      }
      const unsigned stride = store.stride != 0 ? store.stride : store.rows * store.blocks;
      for (unsigned tile = 0; tile < store.tiles(); ++tile) {
        const std::uint64_t row =
            std::uint64_t{tile / store.count} * store.rows + tile % store.count * stride;
        Piece piece{store.address + row * store.row_beats() * kN, store.rows * store.row_beats(),
                    blocks_.size(), &store};
        Block block{piece.address, &store, 0};
        if (store.narrow()) {
          block.sums = (blocks_.size() + 1) << 32;
          block.set = sets_++;
        }
        blocks_.push_back(block);
        pieces_.push_back(piece);
      }
      ends_.insert(pieces_.back().address + pieces_.back().beats * kN);
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
  std::vector<std::uint64_t> done_at, address_at, data_at;  // cycles of blocks, bursts, beats
  std::vector<std::uint64_t> taken_at;                      // cycles of snapshots
  std::vector<std::uint64_t> read_at, freed_at, set_at, scales_at;  // of rows, blocks, sets
  unsigned waits_for_parameters = 0;                                // cycles

 private:
  static constexpr unsigned kSnapshotBeats = kCounters.size() * 8 / kN;

  struct Burst {
    std::uint64_t address;
    unsigned beats;
  };
  /// A block, or a snapshot.
  struct Piece {
    std::uint64_t address;
    unsigned beats;
    std::size_t block;
    const Store* store;
    bool snapshot() const { return store->snapshot(); }
  };
  struct Block {
    std::uint64_t sums;  // memory_byte() from here on gives its rows of sums
    const Store* store;
    std::size_t set;  // of 8-bit blocks
  };

  void drive() {
    const bool command = sent_ < stores_.size() && (waits_ || gates_.command());
    const Store store = command ? stores_[sent_] : Store{0, 1, 1};
    bench->command_valid_i = command;
    const Opcode opcode = store.snapshot() ? Opcode::kFence : Opcode::kStore;
    bench->command_i[0] = static_cast<std::uint32_t>(opcode) | store.rows << 16;
    bench->command_i[4] = static_cast<std::uint32_t>(store.address);
    bench->command_i[5] = static_cast<std::uint32_t>(store.address >> 32);
    bench->command_i[1] = store.count;
    bench->command_i[7] = store.stride != 0 ? store.stride : store.rows * store.blocks;
    bench->command_i[3] = store.blocks;
    bench->command_i[6] = static_cast<std::uint8_t>(store.format) |
                          static_cast<std::uint8_t>(store.zero) << 8 |
                          static_cast<std::uint8_t>(store.low) << 16 |
                          static_cast<std::uint32_t>(static_cast<std::uint8_t>(store.high)) << 24;
    bench->command_tag_i = static_cast<std::uint16_t>(40 + sent_);
    bench->block_done_i = done_ < blocks_.size() && done_ < freed_ + 2 && gates_.block();
    bench->awready_i = gates_.address();
    bench->wready_i = gates_.data();
    // bready is always high, so an answer is there for one cycle.
    bench->bvalid_i =
        !responses_.empty() && responses_.front() <= bench.clock() && gates_.response();
    bench->berror_i = answered_ == error_burst;
    // The accumulator shows the row that was read last.
    for (unsigned i = 0; i < 4 * kN; ++i) {
      set_lane(bench->row_data_i, i, memory_byte(shown_ + i));
    }
    set_memory_word(bench->snapshot_i, kept_);
    if (loaded_ < sets_ && loaded_ < scales_ + 16 && gates_.set()) {
      ++loaded_;
      set_at.push_back(bench.clock());
    }
    bench->set_ready_i = loaded_ > claimed_;
    for (unsigned c = 0; c < kN; ++c) {
      set_lane(bench->bias_i, c, bias_of(bias_, c));
      const float scale = scale_of(scales_ - 1, c);  // before the first: of none
      std::uint32_t bits;
      std::memcpy(&bits, &scale, sizeof bits);
      set_lane(bench->scale_i, c, bits);
    }
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
    EXPECT_EQ((bench->causes_o >> 0 & 1), bench->wvalid_o && bench->wready_i);
    if (bench->wvalid_o) {
      ASSERT_LT(sent_pieces_, pieces_.size());
      const Piece& piece = pieces_[sent_pieces_];
      if (piece.snapshot()) {
        ASSERT_TRUE(keeps_);
      } else {
        ASSERT_GT(done_, piece.block) << "stored before it was complete";
      }
      ASSERT_FALSE(bursts_.empty()) << "data before its address";
      const std::uint64_t place = piece.address + beat_ * kN;
      EXPECT_EQ(bursts_.front().address + burst_beat_ * kN, place);
      if (piece.store->narrow()) {
        check_results(piece);
      } else {
        EXPECT_TRUE(is_memory_word(bench->wdata_o, place))
            << "beat " << beat_ << " of piece " << sent_pieces_;
      }
      EXPECT_EQ(bench->wlast_o, burst_beat_ + 1 == bursts_.front().beats);
      EXPECT_EQ(bench->wstrb_o, kN == 8 ? 0xff : 0xf);
    }
    const bool working = sent_pieces_ < promised_;  // a STORE or a snapshot is in progress
    const bool due = answered_ < offered;           // a write is not answered yet
    EXPECT_EQ((bench->causes_o >> 0 & 1) + (bench->causes_o >> 1 & 1) + (bench->causes_o >> 2 & 1) +
                  (bench->causes_o >> 3 & 1) + (bench->causes_o >> 4 & 1) +
                  (bench->causes_o >> 5 & 1) + (bench->causes_o >> 6 & 1),
              1);
    if (bench->wvalid_o && !bench->wready_i) {
      EXPECT_EQ((bench->causes_o >> 1 & 1), 1);
    }
    if (working && !bench->wvalid_o && !due) {
      EXPECT_EQ((bench->causes_o >> 2 & 1) + (bench->causes_o >> 3 & 1), 1);
    }
    if ((bench->causes_o >> 3 & 1)) {
      ++waits_for_parameters;
      const Piece& piece = pieces_[sent_pieces_];
      EXPECT_TRUE(piece.store->narrow() && beat_ == 0 && done_ > piece.block &&
                  loaded_ <= blocks_[piece.block].set && bursts_.empty());
    }
    EXPECT_EQ((bench->causes_o >> 5 & 1), !working && due);
    EXPECT_EQ((bench->causes_o >> 6 & 1), !working && !due);
    EXPECT_EQ(bench->idle_o, !working && !due);
    if (bench->quiet_o) {
      EXPECT_FALSE(bench->awvalid_o || bench->wvalid_o || due);
    }
    // A bank is free with the last beat of sums; of 8 bits when its last row has been taken in.
    const Block* const block = freed_ < blocks_.size() ? &blocks_[freed_] : nullptr;
    const bool of_block = (bench->causes_o >> 0 & 1) && !pieces_[sent_pieces_].snapshot();
    if (block == nullptr || !block->store->narrow()) {
      EXPECT_EQ(bench->bank_free_o, of_block && pieces_[sent_pieces_].block == freed_ &&
                                        beat_ + 1 == pieces_[sent_pieces_].beats);
    } else if (bench->bank_free_o) {
      EXPECT_EQ(rows_read_, block->store->rows);
    }
    EXPECT_EQ(bench->snapshot_next_o, (bench->causes_o >> 0 & 1) && !of_block);
    EXPECT_LE(bench->set_claim_o, bench->set_ready_i);
    EXPECT_LT(scales_ + bench->scale_read_o, claimed_ + 1) << "unclaimed scales";
    EXPECT_EQ(bench->snapshot_take_o,
              bench->command_valid_i && bench->command_ready_o &&
                  (bench->command_i[0] & 0xff) == static_cast<unsigned>(Opcode::kFence));
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
      shown_ = blocks_[block].sums + bench->row_o * 4 * kN;
      read_at.push_back(bench.clock());
    } else if (bench->bank_free_o) {
      shown_ = 0x7777777777;  // another tile may begin in the bank
    }
    if (bench->bias_next_o) ++next_bias_;
    if (bench->bias_read_o) bias_ = next_bias_;
    claimed_ += bench->set_claim_o;
    if (bench->scale_read_o) {
      ++scales_;
      scales_at.push_back(bench.clock());
    }
    if (bench->bank_free_o) {
      ++freed_;
      freed_at.push_back(bench.clock());
    }
    EXPECT_EQ(bench->rows_stored_o, rows_read_);
    if (bench->bank_free_o) rows_read_ = 0;
    rows_read_ += bench->row_read_o;
    waits_ = bench->command_valid_i && !bench->command_ready_o;
    if (bench->command_valid_i && !waits_) {
      const Store& store = stores_[sent_++];
      promised_ += store.snapshot() ? 1 : store.tiles();
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
    if ((bench->causes_o >> 0 & 1)) take_beat();
    if (bench->snapshot_take_o) {
      keeps_ = true;
      kept_ = std::uint64_t{bench->command_i[5]} << 32 | bench->command_i[4];
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
      if (piece.snapshot()) keeps_ = false;
    }
  }

  void check_results(const Piece& piece) {
    const Block& block = blocks_[piece.block];
    for (unsigned c = 0; c < kN; ++c) {
      std::uint32_t sum = 0;
      for (unsigned i = 4; i-- > 0;) {
        sum = sum << 8 | memory_byte(block.sums + (beat_ * kN + c) * 4 + i);
      }
      EXPECT_EQ(lane<std::uint8_t>(bench->wdata_o, c),
                expected(static_cast<std::int32_t>(sum), block.set, c, *piece.store))
          << "row " << beat_ << " of block " << piece.block << ", column " << c;
    }
  }

  std::vector<Store> stores_;
  Gates gates_;
  unsigned latency_;
  std::vector<Piece> pieces_;                        // in the order in which they are sent
  std::vector<Block> blocks_;                        // those that are blocks
  std::set<std::uint64_t> ends_;                     // addresses after each STORE
  std::size_t sets_ = 0, loaded_ = 0, claimed_ = 0;  // of parameters: in all, there, taken
  std::size_t next_bias_ = 0, bias_ = 0;  // the set to be read, and the one that is shown
  std::size_t scales_ = 0;                // sets whose scales were read
  std::deque<bool> ends_store_;  // for each burst that is not answered: the last of a STORE?
  std::uint64_t kept_ = 0;       // address of the snapshot's next beat
  bool keeps_ = false;           // a snapshot that has not been sent
  std::uint64_t shown_ = 0;      // where the row is in the end that was read last
  unsigned rows_read_ = 0;       // of the block in progress
  std::deque<Burst> bursts_;     // offered, their data not complete
  std::deque<std::uint64_t> responses_;  // cycles in which answers are due
  std::size_t sent_ = 0, promised_ = 0;  // commands, and their pieces
  std::size_t sent_pieces_ = 0;
  std::size_t done_ = 0, freed_ = 0, written_ = 0;
  unsigned beat_ = 0, burst_beat_ = 0;  // of the piece, of the burst
  unsigned addresses_ = 0, complete_ = 0, answerable_ = 0, answered_ = 0;  // bursts
  bool waits_ = false, offering_ = false;                                  // a command, an address
  StaysPut<std::tuple<std::uint64_t, unsigned>> address_stays_{"AW"};
  StaysPut<std::vector<std::uint8_t>> data_stays_{"W"};
};

using TrialN4 = Trial<Vstore_n4, 4, 2>;
using TrialN8 = Trial<Vstore_n8, 8, 4>;

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

TEST(Results, AddressAfterTwoCyclesDataAfterThree) {
  TrialN8 run({{0, 5, 1}}, {Gate(), Gate(1u << 10, 16), Gate(), Gate(), Gate()}, 1);
  run();
  EXPECT_EQ(run.done_at, std::vector<std::uint64_t>{10});
  EXPECT_EQ(run.address_at, std::vector<std::uint64_t>{12});
  ASSERT_EQ(run.data_at.size(), 20u);
  for (unsigned beat = 0; beat < 20; ++beat) EXPECT_EQ(run.data_at[beat], 13u + beat);
}

TEST(Results, BeatsOfSeveralBurstsFollowWithoutGap) {
  TrialN8 run({{4096 - 24, 100, 1}}, {}, 1);  // 3 beats to the page, then 64 at a time
  run();
  EXPECT_EQ(run.offered, 8u);
  ASSERT_EQ(run.data_at.size(), 400u);
  EXPECT_EQ(run.data_at.back() - run.data_at.front(), 399u);
}

TEST(Results, CompleteBlocksFollowWithoutGap) {
  TrialN8 run({{0, 5, 4}, {4096, 1, 2}}, {}, 1);
  run();
  ASSERT_EQ(run.data_at.size(), 88u);
  EXPECT_EQ(run.data_at.back() - run.data_at.front(), 87u);
}

// After its two blocks, whose rows go on as if it were not there.
TEST(Results, BytesFollowTwelveCyclesLater) {
  TrialN8 run({of_8_bits(0, 5, 1)}, {Gate(), Gate(1u << 10, 16), Gate(), Gate(), Gate()}, 1);
  run();
  EXPECT_EQ(run.address_at, std::vector<std::uint64_t>{12});
  EXPECT_EQ(run.read_at, (std::vector<std::uint64_t>{12, 13, 14, 15, 16}));
  EXPECT_EQ(run.scales_at, std::vector<std::uint64_t>{16}) << "4 after the first row's read";
  EXPECT_EQ(run.freed_at, std::vector<std::uint64_t>{17}) << "a cycle after the last row's read";
  EXPECT_EQ(run.data_at, (std::vector<std::uint64_t>{22, 23, 24, 25, 26}));
  EXPECT_EQ(run.waits_for_parameters, 0u);
}

// The set is there in cycle 30; the block was complete, as the engine sees it, in cycle 11.
TEST(Results, BlockOfBytesWaitsForParameters) {
  TrialN8 run({of_8_bits(0, 2, 1)},
              {Gate(), Gate(1u << 10, 31), Gate(), Gate(), Gate(), Gate(1u << 30, 31)}, 1);
  run();
  EXPECT_EQ(run.set_at, std::vector<std::uint64_t>{30});
  EXPECT_EQ(run.address_at, std::vector<std::uint64_t>{31});
  EXPECT_EQ(run.data_at, (std::vector<std::uint64_t>{41, 42}));
  EXPECT_EQ(run.waits_for_parameters, 19u);
}

TEST(Results, BlocksOfBytesFollowWithoutGap) {
  for (const unsigned rows : {1u, 2u, 7u, 100u}) {
    TrialN8 run({of_8_bits(0x1000, rows, 3, 2), of_8_bits(0x9000, rows, 2)}, {}, 1);
    run();
    ASSERT_EQ(run.data_at.size(), 8 * rows);
    // Of one row, the next block is complete a cycle late, as banks come back.
    if (rows > 2) {
      EXPECT_EQ(run.data_at.back() - run.data_at.front(), 8 * rows - 1);
    }
  }
}

// The first beat of sums follows the last 8-bit one at once; 8 bits are nine cycles after sums and
// snapshots.
TEST(Results, FormatsAndSnapshotsTakeTurns) {
  TrialN8 run({of_8_bits(0, 3, 1),
               {0x1000, 1, 1},
               of_8_bits(0x2000, 2, 1),
               {0x3000, 0, 0},
               of_8_bits(0x4000, 2, 1),
               {0x5000, 0, 0}},
              {}, 1);
  run();
  std::vector<std::uint64_t> gaps;  // before each piece but the first
  for (const std::size_t first : std::vector<std::size_t>{3, 3 + 4, 3 + 4 + 2, 9 + kCounters.size(),
                                                          9 + kCounters.size() + 2}) {
    gaps.push_back(run.data_at[first] - run.data_at[first - 1] - 1);
  }
  EXPECT_EQ(gaps, (std::vector<std::uint64_t>{0, 9, 0, 9, 0}));
}

TEST(Results, TilesAStrideApartBlocksContiguous) {
  for_all_patterns(3, [](Gate data, Gate block) {
    TrialN8({of_8_bits(0x10000, 3, 2, 3, 11), {0x20000, 3, 2, ResultCode::kInt32, 2, 7}},
            {Gate(), block, Gate(), data, Gate()}, 3)();
    TrialN4({{0x20000, 3, 3, ResultCode::kInt32, 2, 40}, of_8_bits(0x10000, 1, 3, 2, 2)},
            {Gate(), block, Gate(), data, Gate()}, 3)();
  });
}

TEST(Results, ASnapshotIsSentInItsTurnWithoutAGap) {
  TrialN8 run({{0, 5, 2}, {0x1000, 0, 0}, {0x2000, 1, 2}}, {}, 1);
  run();
  ASSERT_EQ(run.data_at.size(), 40 + kCounters.size() + 8);
  EXPECT_EQ(run.data_at.back() - run.data_at.front(), 47 + kCounters.size());
}

TEST(Results, SnapshotTakesThreeCycles) {
  TrialN4 run({{4096 - 16, 0, 0}}, {Gate(1u << 10, 16), Gate(), Gate(), Gate(), Gate()}, 1);
  run();
  EXPECT_EQ(run.taken_at, std::vector<std::uint64_t>{10});
  EXPECT_EQ(run.address_at,
            (std::vector<std::uint64_t>{13, 14, 19}));  // cut at 4 KiB; two in progress
  ASSERT_EQ(run.data_at.size(), 2 * kCounters.size());
  for (unsigned beat = 0; beat < run.data_at.size(); ++beat)
    EXPECT_EQ(run.data_at[beat], 13u + beat);
}

TEST(Results, SnapshotWaitsForThePreviousOne) {
  TrialN8 run({{0, 0, 0}, {256, 0, 0}, {4096, 1, 1}}, {}, 1);
  run();
  ASSERT_EQ(run.taken_at.size(), 2u);
  EXPECT_EQ(run.taken_at[1], run.data_at[kCounters.size() - 1] + 1);
}

// The data of the first burst have left by then, so that nothing else shows what the engine waits
// for.
TEST(Results, StalledAddressCountsAsMemoryWait) {
  TrialN4 run({{0, 2, 9}}, {Gate(), Gate(), Gate(0, 1)}, 1);
  for (unsigned t = 0; t < 100; ++t) run.clock();
  EXPECT_EQ(run.data_at.size(), 8u);
  EXPECT_EQ((run.bench->causes_o >> 1 & 1), 1);
  EXPECT_EQ((run.bench->causes_o >> 2 & 1), 0);
}

TEST(Results, LimitsOutstandingBursts) {
  TrialN4 run({{0, 16, 9}}, {Gate(), Gate(), Gate(), Gate(), Gate(0, 1)}, 1);
  for (unsigned t = 0; t < 400; ++t) run.clock();
  EXPECT_EQ(run.offered, 2u);
  EXPECT_EQ(run.data_at.size(), 128u) << "but what was announced is sent";
  EXPECT_EQ((run.bench->causes_o >> 1 & 1), 1);
}

TEST(Results, StopEndsOutstandingWritesOnly) {
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
  for_seeds(1, 120, [](std::mt19937& random) {
    const bool mixed = random() % 2 == 0;
    std::vector<Store> stores;
    for (unsigned i = draw(random, 1, 6); i > 0; --i) {
      Store store{(i << 20) + draw(random, 0, 4096) * 8ull, draw(random, 1, 32),
                  draw(random, 1, 4)};
      if (random() % 4 == 0) store.rows = 1;
      if (draw(random, 0, 3) == 0) store.rows = 0;
      store.blocks = draw(random, 1, 3);
      if (random() % 2 == 0) store.stride = store.rows * store.blocks + draw(random, 0, 50);
      if (!mixed || random() % 2 == 0) {
        store.format = random() % 2 == 0 ? ResultCode::kInt8 : ResultCode::kUint8;
        const int least = store.format == ResultCode::kInt8 ? -128 : 0;
        const auto any = [&random, least] { return least + static_cast<int>(random() % 256); };
        store.zero = any();
        const int one = any(), other = any();
        store.low = std::min(one, other);
        store.high = random() % 2 == 0 ? least + 255 : std::max(one, other);
      }
      stores.push_back(store);
    }
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random), Gate::random(random), Gate::random(random)};
    };
    TrialN4(stores, gates(), draw(random, 1, 40))();
    TrialN8(stores, gates(), draw(random, 1, 100))();
  });
}

}  // namespace
}  // namespace gemm64::rtl_test

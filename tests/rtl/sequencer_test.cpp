// SPDX-License-Identifier: Apache-2.0
#include <Vsequencer_n2.h>
#include <Vsequencer_n4.h>

#include "host/device/registers.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

struct Matmul {
  unsigned rows, count, passes, blocks;
  bool accumulate, retain;
  // A block of a window: taps in each of `count` planes; 0: none. What is read where, tests of
  // gemm64_im2col tell.
  unsigned taps = 0, group_passes = 1, fresh = 0, freed = 0;
  bool set = false;  // a SET_WINDOW for the windows after it, of taps and group_passes
  bool retain_weights = false;
  unsigned tiles() const { return count * (taps != 0 ? taps : 1); }  // of a pass
};

/// One row that must be read, in the order of the command's loops.
struct Row {
  bool starts_tile = false, takes_bank = false, last_of_tile = false;  // of the tile
  bool first = false, last = false, bank = false;                      // of its block of sums
  bool release = false, rewind = false;
  unsigned row = 0, rows = 0, command = 0;  // row: of its bank
  unsigned stored = 0;                      // rows of its block of sums
  bool window = false, begins = false;      // begins: the block of a window
  int claim = -1;                           // pixels; below 0: none
  int freed = -1;
  bool keeps_weights = false, rewinds_weights = false;  // its tile
};

struct Gates {
  Gate command, weights, activations, bank;
  Gate kind{};  // open: the words that are there are of the kind that the next row reads
};

constexpr unsigned kFirstTag = 1000;  // of the first command
constexpr unsigned kBankRows = 8;     // rows of a block beyond these are in the other bank

/// kTags: a row is output with its command (SELF_CHECK).
template <class Model, unsigned kN, unsigned kPipeline, bool kTags>
class Trial {
 public:
  Trial(std::vector<Matmul> commands, Gates gates) : commands_(std::move(commands)), gates_(gates) {
    bool bank = false;
    for (unsigned command = 0; command < commands_.size(); ++command) {
      const Matmul& m = commands_[command];
      if (m.set) {
        rows_.push_back({});  // stands for it, so that it is seen at the head of the queue
        rows_.back().command = command;
        rows_.back().rows = 0;
        continue;
      }
      const unsigned tiles = m.tiles();
      for (unsigned tile = 0; tile < m.blocks * m.passes * tiles; ++tile) {
        const bool first = !m.accumulate || tile % tiles == 0;
        const bool last = !m.accumulate || tile % tiles == tiles - 1;
        const bool release = !m.retain || tile / tiles % m.passes == m.passes - 1;
        for (unsigned r = 0; r < m.rows; ++r) {
          const bool last_row = r + 1 == m.rows, other = r >= kBankRows;
          const unsigned in_bank = r % kBankRows;
          const bool ends = last_row || in_bank + 1 == kBankRows;
          const unsigned stored = other ? m.rows - kBankRows : std::min(m.rows, kBankRows);
          rows_.push_back({r == 0, in_bank == 0 && first, last_row, first, ends && last,
                           bank != other, release,
                           !release && last_row && tile % tiles == tiles - 1, in_bank, m.rows,
                           command, stored});
          Row& row = rows_.back();
          const unsigned of_block = m.passes * tiles;
          row.keeps_weights = m.retain_weights && (m.taps != 0 || tile / of_block + 1 != m.blocks);
          row.rewinds_weights = row.keeps_weights && (tile + 1) % of_block == 0;
          if (m.taps == 0) continue;
          row.window = true;
          row.begins = r == 0 && tile == 0;
          if (r == 0 && tile % m.taps == 0 && tile / tiles % m.group_passes == 0) {
            row.claim = static_cast<int>(m.fresh);
          }
          if (last_row && tile + 1 == m.passes * tiles) row.freed = static_cast<int>(m.freed);
        }
        if (last && m.rows <= kBankRows) bank = !bank;
      }
    }
    bench->stop_i = bench->command_valid_i = bench->bank_free_i = bench->rows_stored_i = 0;
    bench->lanes_move_i = bench->lanes_row_i = bench->lanes_plane_end_i = 0;
    bench->lanes_finished_i = bench->lanes_wait_weights_i = bench->lanes_wait_word_i = 0;
  }

  void operator()() {
    while (done_ < rows_.size() || !bench->idle_o) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
  }

  /// A reset in the middle of the work, which then starts again.
  void restart() {
    bench->command_valid_i = 0;
    bench.reset();
    done_ = sent_ = 0;
    words_ = ahead_ = column_ = drain_ = used_ = rows_stored_ = 0;
    waits_ = loaded_ = false;
    complete_.clear();
  }

  void clock() {
    drive();
    bench.settle();
    check();
    bench.edge();
  }

  Bench<Model> bench{400000};
  std::size_t done_ = 0;  // rows read
  bool follows_ = false;  // one was while its bank was stored

 private:
  void drive() {
    const bool command = sent_ < commands_.size() && (waits_ || gates_.command());
    const Matmul m = command ? commands_[sent_] : Matmul{1, 1, 1, 1, false, false};
    bench->command_valid_i = command;
    bench->command_tag_i = static_cast<std::uint16_t>(kFirstTag + sent_);
    set_window_words(m);
    const Opcode opcode = m.set ? Opcode::kSetWindow : Opcode::kMatmul;
    bench->command_i[0] = static_cast<std::uint32_t>(opcode) | m.accumulate << 8 | m.retain << 9 |
                          m.retain_weights << 15 |
                          (m.taps != 0 && !m.set ? flag::kWindow << 8 : 0) | m.rows << 16;
    bench->command_i[1] = m.count;
    bench->command_i[2] = m.passes;
    bench->command_i[3] = m.blocks;
    if (gates_.weights() && words_ < 2 * kN) ++words_;
    if (gates_.activations() && ahead_ < 60) ++ahead_;
    bench->weight_words_i = static_cast<std::uint8_t>(words_);
    bench->activation_words_i = static_cast<std::uint8_t>(ahead_);
    // Only where a tile may start do they matter.
    const bool window = done_ < rows_.size() && rows_[done_].window;
    its_kind_ = gates_.kind();
    bench->activation_pixels_i = window == its_kind_;
    // Of the oldest block that is complete one row after the other is read, then it is stored.
    const bool move = !complete_.empty() && gates_.bank();
    const bool last = move && rows_stored_ == complete_.front();
    if (move && !last) ++rows_stored_;
    bench->rows_stored_i = static_cast<std::uint8_t>(rows_stored_);
    bench->bank_free_i = last;
  }

  /// Words 8 to 15 of the command. Of the picture a test needs only that there is one.
  void set_window_words(const Matmul& m) {
    Command words;
    words.opcode = m.set ? Opcode::kSetWindow : Opcode::kMatmul;
    if (m.set) {
      words.kernel_height = m.taps > 2 ? 2 : 1;  // taps: 1, 2 or an even number
      words.kernel_width = m.taps / words.kernel_height;
      words.group_passes = m.group_passes;
      words.capacity = words.height = words.width = words.out_height = words.out_width = 8;
    } else {
      words.new_pixels = m.fresh;
      words.freed_pixels = m.freed;
    }
    std::uint8_t bytes[kCommandBytes];
    words.encode(bytes);
    for (unsigned i = 32; i < kCommandBytes; ++i) set_lane(bench->command_i, i, bytes[i]);
    bench->command_i[6] = (m.taps * 5 & 0xff) << 8;
  }

  void check() {
    // A tile starts in the cycle in which it can: command, weights (and the last ones out of the
    // way), activations, and a place for its first row. The rows after it follow where they have
    // one.
    const bool here = done_ < rows_.size() && rows_[done_].command < sent_;
    const Row row = done_ < rows_.size() ? rows_[done_] : Row{};
    const bool set = here && row.rows == 0;  // takes a cycle, in which there is no MATMUL
    const bool waiting = here && !set;
    const bool weights = column_ == 0 && words_ >= kN;
    // A block of a window has been at the head for a cycle; the first tile of a plane in the first
    // pass that reads it needs the plane's new words, every other one none.
    const bool loaded = !row.begins || loaded_;
    const bool activations =
        row.window
            ? loaded && (row.claim <= 0 || (its_kind_ && static_cast<int>(ahead_) >= row.claim))
            : its_kind_ && ahead_ >= row.rows;
    // Two blocks before it leave no place, but for new sums where the store has read the old ones.
    const unsigned before = used_ - (row.takes_bank ? 0 : 1);
    const bool place = before < 2 || (before == 2 && row.first && rows_stored_ > row.row);
    const bool start =
        waiting && row.starts_tile && weights && activations && place && !bench->stop_i;
    const bool read = start || (waiting && !row.starts_tile && place);
    const bool between = waiting && row.starts_tile && !start;
    const bool overtakes = waiting && !row.starts_tile && !read;
    ASSERT_EQ(bench->activation_read_o, read) << "row " << done_ << " in cycle " << bench.clock();
    EXPECT_EQ(bench->row_starts_tile_o, start) << done_;
    const bool first_of_command = done_ == 0 || rows_[done_ - 1].command != row.command;
    EXPECT_EQ(bench->row_starts_command_o, start && first_of_command) << done_;
    if (read) EXPECT_EQ(bench->row_tag_o, kTags ? kFirstTag + row.command : 0) << done_;
    EXPECT_EQ(bench->weight_read_o, start || column_ > 0);
    if (bench->weight_read_o) {
      EXPECT_EQ(bench->weight_column_o, column_);
      if (start) tile_ = row;
      EXPECT_EQ(bench->weight_release_o, !tile_.keeps_weights) << done_;
      EXPECT_EQ(bench->weight_rewind_o, tile_.rewinds_weights && column_ == kN - 1) << done_;
    }
    EXPECT_EQ(bench->activation_window_o, waiting && row.window);
    EXPECT_EQ(bench->activation_claim_o, start && row.claim >= 0) << done_;
    EXPECT_EQ(bench->activation_free_o, read && row.freed >= 0) << done_;
    if (bench->activation_claim_o) EXPECT_EQ(bench->activation_new_o, row.claim) << done_;
    if (bench->activation_free_o) EXPECT_EQ(bench->activation_freed_o, row.freed) << done_;
    if (read && row.window) EXPECT_EQ(bench->activation_zero_o, zero_) << done_;
    if (read) {
      if (!row.window) {
        EXPECT_EQ(bench->activation_release_o, row.release) << done_;
        EXPECT_EQ(bench->activation_rewind_o, row.rewind) << done_;
      }
      EXPECT_EQ(bench->row_first_o, row.first) << done_;
      EXPECT_EQ(bench->row_last_o, row.last) << done_;
      EXPECT_EQ(bench->row_bank_o, row.bank) << done_;
      EXPECT_EQ(bench->row_o, row.row) << done_;
    }
    EXPECT_EQ((bench->causes_o >> 1 & 1), between && !weights);
    EXPECT_EQ((bench->causes_o >> 2 & 1), between && weights && !activations);
    EXPECT_EQ((bench->causes_o >> 3 & 1), overtakes || (between && weights && activations));
    EXPECT_EQ((bench->causes_o >> 4 & 1), !waiting && drain_ > 0);
    EXPECT_EQ((bench->causes_o >> 5 & 1), !waiting && drain_ == 0);
    EXPECT_EQ(bench->idle_o, !here && drain_ == 0 && used_ == 0);

    if (bench->weight_read_o) {
      --words_;
      column_ = (column_ + 1) % kN;
    }
    if (bench->bank_free_i) {
      complete_.pop_front();
      rows_stored_ = 0;
      --used_;
    }
    if (read && row.takes_bank) ++used_;
    loaded_ = waiting && row.begins && !read;
    if (set) {
      zero_ = commands_[row.command].taps * 5;
      ++done_;
    }
    if (start && row.claim > 0) ahead_ -= static_cast<unsigned>(row.claim);
    if (read) {
      if (!row.window) --ahead_;
      ++done_;
      follows_ |= used_ == 3;
      if (row.last) complete_.push_back(row.stored);
    }
    drain_ = read ? kPipeline : drain_ - (drain_ > 0);
    waits_ = bench->command_valid_i && !bench->command_ready_o;
    if (bench->command_valid_i && !waits_) {
      ++sent_;  // the engine sees it from the next cycle
    }
  }

  std::vector<Matmul> commands_;
  Gates gates_;
  std::vector<Row> rows_;
  std::size_t sent_ = 0;
  bool waits_ = false;  // a command
  unsigned words_ = 0, ahead_ = 0, column_ = 0, drain_ = 0;
  unsigned used_ = 0;              // blocks begun and not stored
  std::deque<unsigned> complete_;  // rows of those that are complete
  unsigned rows_stored_ = 0;       // of the oldest
  bool loaded_ = false;            // the walk of the window's block at the head
  unsigned zero_ = 0;
  bool its_kind_ = true;
  Row tile_;  // whose weights are read
};

using TrialN2 = Trial<Vsequencer_n2, 2, 4, false>;
using TrialN4 = Trial<Vsequencer_n4, 4, 6, true>;

TEST(Compute, StartsEachTileWithoutDelay) {
  const std::vector<Matmul> commands{{1, 2, 2, 2, true, true},
                                     {1, 2, 2, 2, true, true, 0, 1, 0, 0, false, true},
                                     {5, 2, 2, 1, true, false},
                                     {2, 2, 1, 2, false, false},
                                     {4, 1, 1, 1, false, true}};
  for_all_patterns(4, [&](Gate weights, Gate activations) {
    TrialN2(commands, {Gate(), weights, activations, Gate()})();
    TrialN4(commands, {Gate(), weights, activations, Gate()})();
  });
  for_all_patterns(4, [&](Gate command, Gate bank) {
    TrialN2(commands, {command, Gate(), Gate(), bank})();
    TrialN4(commands, {command, Gate(), Gate(), bank})();
  });
}

TEST(Compute, TilesAndCommandsFollowWithoutGap) {
  TrialN4 run({{4, 3, 2, 2, true, true}, {4, 5, 1, 1, true, true}}, {});
  while (run.done_ == 0) run.clock();  // the weights and rows of the first tile come in
  const std::uint64_t begin = run.bench.clock();
  run();
  EXPECT_EQ(run.bench.clock() - begin, 17u * 4 - 1 + 6)
      << "17 tiles of 4 cycles, then the pipeline";
}

TEST(Compute, NewSumsFollowStoreRowByRow) {
  for (const unsigned rows : {1u, 2u, 5u, 8u}) {
    TrialN4 run({{rows, 6, 1, 1, false, true}, {rows, 2, 3, 1, true, true}},
                {{}, {}, {}, Gate(1, 4)});
    run();
    EXPECT_TRUE(run.follows_) << rows << " rows";
  }
}

TEST(Compute, ShortTileTakesCyclesOfItsWeights) {
  TrialN4 run({{1, 10, 1, 1, true, true}}, {});
  while (run.done_ == 0) run.clock();
  const std::uint64_t begin = run.bench.clock();
  run();
  EXPECT_EQ(run.bench.clock() - begin, 9u * 4 + 6);
}

TEST(Compute, StopEndsPendingTileAndStartsNone) {
  TrialN4 run({{6, 4, 1, 1, true, true}}, {});
  while (run.done_ < 2) run.clock();
  run.bench->stop_i = 1;
  for (unsigned t = 0; t < 50; ++t) run.clock();
  EXPECT_EQ(run.done_, 6u);
}

TEST(Compute, RestartsFirstCommandAfterReset) {
  TrialN4 run({{3, 4, 1, 1, true, true}, {2, 2, 1, 1, true, true}}, {});
  for (const std::size_t rows : {1u, 4u, 8u}) {
    while (run.done_ < rows) run.clock();
    run.restart();
  }
  run();
}

/// A SET_WINDOW and some blocks of it.
void add_windows(std::mt19937& random, std::vector<Matmul>& commands) {
  static constexpr unsigned kTaps[] = {1, 2, 4, 6};
  Matmul m{0, 1, 1, 1, true, random() % 2 == 0};
  m.taps = kTaps[random() % 4];
  m.group_passes = draw(random, 1, 3);
  m.set = true;
  commands.push_back(m);
  m.set = false;
  m.count = draw(random, 1, 3);
  for (unsigned i = draw(random, 1, 3); i > 0; --i) {
    m.rows = draw(random, 1, 2 * kBankRows);
    m.passes = draw(random, 1, 4);
    m.fresh = draw(random, 0, 12);
    m.freed = draw(random, 0, 12);
    m.retain_weights = random() % 2 == 0;
    commands.push_back(m);
  }
}

TEST(Compute, RunsWindowsAndProductsAtRandom) {
  for_seeds(1, 150, [](std::mt19937& random) {
    std::vector<Matmul> commands;
    for (unsigned i = draw(random, 1, 5); i > 0; --i) {
      if (random() % 3 != 0) {
        add_windows(random, commands);
      } else {
        commands.push_back({draw(random, 1, 8), draw(random, 1, 4), draw(random, 1, 3),
                            draw(random, 1, 3), random() % 2 == 0, random() % 2 == 0});
        commands.back().retain_weights = random() % 2 == 0;
      }
    }
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random), Gate::random(random)};
    };
    TrialN2(commands, gates())();
    TrialN4(commands, gates())();
  });
}

// Two blocks of 4 tiles of 4 rows: a cycle for the SET_WINDOW, and one in front of each block.
TEST(Compute, ABlockOfAWindowCostsAClock) {
  Matmul set{0, 1, 1, 1, true, true, 2, 1};
  set.set = true;
  Matmul block{4, 2, 1, 1, true, true, 2, 1};
  Matmul product{4, 4, 1, 1, true, true};
  TrialN4 run({product, set, block, block}, {});
  while (run.done_ == 0) run.clock();
  const std::uint64_t begin = run.bench.clock();
  run();
  EXPECT_EQ(run.bench.clock() - begin, 4u * 4 + 1 + 2 * (1 + 4 * 4) - 1 + 6);
}

// Without a gap, since the first bank is stored while rows of the other one enter.
TEST(Compute, ABlockOfBothBanksTakesEachTileOnce) {
  Matmul set{0, 1, 1, 1, true, true, 2, 1};
  set.set = true;
  TrialN4 run({set, {16, 3, 2, 1, true, true, 2, 1}}, {});
  while (run.done_ < 2) run.clock();
  const std::uint64_t begin = run.bench.clock();
  run();
  EXPECT_EQ(run.bench.clock() - begin, 2u * 6 * 16 - 1 + 10)
      << "12 tiles of 16 cycles, then the store of 8 rows";
}

TEST(Compute, RunsAnyCommandsAtRandom) {
  for_seeds(1, 150, [](std::mt19937& random) {
    std::vector<Matmul> commands;
    for (unsigned i = draw(random, 1, 6); i > 0; --i) {
      commands.push_back({draw(random, 1, 8), draw(random, 1, 4), draw(random, 1, 3),
                          draw(random, 1, 3), random() % 2 == 0, random() % 2 == 0});
      commands.back().retain_weights = random() % 2 == 0;
    }
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random), Gate::random(random)};
    };
    TrialN2(commands, gates())();
    TrialN4(commands, gates())();
  });
}

}  // namespace
}  // namespace gemm64::rtl_test

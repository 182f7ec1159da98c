// SPDX-License-Identifier: Apache-2.0
// The order in which the tiles and rows of a job enter the array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "host/device/matmul_walk.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

/// A tile by the coordinates of its block, each from 0: of M, of K, of N. Of a convolution k counts
/// the planes of its pass, and in each the taps, row by row.
struct TileIndex {
  std::uint64_t m = 0;
  std::uint64_t k = 0;
  std::uint64_t n = 0;

  friend bool operator==(const TileIndex& a, const TileIndex& b) {
    return a.m == b.m && a.k == b.k && a.n == b.n;
  }
};

/// "0,17,3"
std::string to_string(const TileIndex& tile);

/// Tiles along M, K and N. Of a job in stripes M counts the blocks of all stripes.
TileIndex tile_counts(const Job& job);

/// The tile that a command of the job's program computes as its `tile`th, from 0; empty: it has
/// none.
std::optional<TileIndex> tile_of(const Job& job, std::size_t command, std::uint64_t tile);

/// A tile in its turn.
struct TileStep {
  TileIndex tile;
  std::uint64_t rows = 0;           // of activations
  std::uint64_t first_row = 0;      // of M, with which the tile's block begins
  std::uint64_t result = 0;         // the (first) block of results of its sums, in order
  std::uint64_t stored_before = 0;  // rows of the results before that one
  bool begins_block = false;        // it starts new sums instead of adding to old ones
  bool ends_block = false;          // its sums are the block of results

  /// Bank of the accumulator; an accelerator just reset begins with bank 0.
  unsigned bank() const { return static_cast<unsigned>(result % 2); }
};

/// Goes through the tiles of a job's MATMUL commands, one after the other. A DEPTHWISE counts as
/// one tile, with a row for each cycle in which the lanes work. The program outlives the walk.
class TileWalk {
 public:
  /// `bank_rows`: of the accumulator; rows of a tile beyond these are of the next block of results.
  TileWalk(const std::vector<Command>& program, std::uint64_t bank_rows)
      : program_(&program), bank_rows_(bank_rows) {
    find_matmul();
  }
  explicit TileWalk(const Job& job);

  /// Have all tiles been gone through?
  bool done() const { return !matmul_; }
  /// The next tile; not where done().
  const TileStep& tile() const { return step_; }
  /// The command that it is of, in the program.
  std::size_t command() const { return command_ - 1; }
  void next();

 private:
  void find_matmul();
  void enter_stripes();
  void load_step();
  void find_first_row();

  const std::vector<Command>* program_;
  std::uint64_t bank_rows_;
  const Plan* plan_ = nullptr;            // of a convolution, or of its stripe
  const Job* job_ = nullptr;              // with stripes
  std::size_t stripes_ = 0;               // entered
  std::uint64_t first_block_ = 0;         // of the stripe, of all that the job has
  std::uint64_t first_matmul_block_ = 0;  // the same in blocks_before_
  std::uint64_t result_blocks_ = 1;       // that the MATMUL's last tile of K ends at once
  std::uint32_t taps_ = 1;
  std::size_t command_ = 0;  // after the current MATMUL
  std::optional<MatmulWalk> matmul_;
  std::uint64_t blocks_before_ = 0;  // of M, in the MATMULs before; of a plan in bands MATMULs
  TileStep step_;
};

/// Goes through the rows of each of these tiles.
class RowWalk {
 public:
  explicit RowWalk(const Job& job) : tiles_(job) {}
  RowWalk(const std::vector<Command>& program, std::uint64_t bank_rows)
      : tiles_(program, bank_rows) {}

  bool done() const { return tiles_.done(); }
  /// The tile of the next row to enter; not where done().
  const TileStep& tile() const { return tiles_.tile(); }
  /// The command that the tile is of.
  std::size_t command() const { return tiles_.command(); }
  /// The row's number in its block.
  std::uint64_t row() const { return row_; }
  bool first_row() const { return row_ == 0; }
  bool last_row() const { return row_ + 1 == tiles_.tile().rows; }
  void next() {
    if (++row_ == tiles_.tile().rows) skip_tile();
  }
  /// Goes on to the first row of the next tile.
  void skip_tile() {
    row_ = 0;
    tiles_.next();
  }

 private:
  TileWalk tiles_;
  std::uint64_t row_ = 0;
};

}  // namespace gemm64

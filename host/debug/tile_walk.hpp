// SPDX-License-Identifier: Apache-2.0
// The order in which the rows of a plan's tiles enter the array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/tiling/plan.hpp"

namespace gemm64 {

/// A tile by the coordinates of its block, each from 0: of M, of K, of N.
struct Tile {
  std::uint64_t m = 0;
  std::uint64_t k = 0;
  std::uint64_t n = 0;

  friend bool operator==(const Tile& a, const Tile& b) {
    return a.m == b.m && a.k == b.k && a.n == b.n;
  }
};

/// "0,17,3"
std::string to_string(const Tile& tile);

/// Tiles along M, K and N.
Tile tile_counts(const Plan& plan);

/// One row of activations on its way into the array.
struct TileRow {
  Tile tile;
  std::uint64_t row = 0;            // of M, in its block
  std::uint64_t rows = 0;           // of the block
  std::uint64_t first_row = 0;      // of M, with which the block begins
  std::uint64_t result = 0;         // which block of results its sums belong to, in order
  std::uint64_t stored_before = 0;  // rows of the results before that one
  bool first = false;               // it starts new sums instead of adding to old ones

  /// Bank of the accumulator; an accelerator just reset begins with bank 0.
  unsigned bank() const { return static_cast<unsigned>(result % 2); }
};

/// Goes through the rows of a plan as MATMUL does: blocks of M; in each the tiles of N; in each the
/// tiles of K; in each the rows. The plan outlives the walk.
class TileWalk {
 public:
  explicit TileWalk(const Plan& plan);

  /// Have all rows been gone through?
  bool done() const { return group_ == plan_->groups.size(); }
  /// The next row to enter; not where done().
  const TileRow& row() const { return row_; }
  void next();
  /// Goes on to the first row of the next tile.
  void skip_tile();

 private:
  void start_tile();

  const Plan* plan_;
  std::size_t group_ = 0;
  std::uint32_t block_ = 0;  // of the group
  TileRow row_;
};

}  // namespace gemm64

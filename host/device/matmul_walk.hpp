// SPDX-License-Identifier: Apache-2.0
// The order in which a MATMUL command works through its tiles. All that follows tiles uses it.
#pragma once

#include <cstdint>

#include "host/device/command_types.hpp"

namespace gemm64 {

/// Blocks of M; in each the passes (tiles of N); in each the tiles of K: of a window the planes,
/// and in each its taps.
class MatmulWalk {
 public:
  /// `taps`: of a window, those of the last SET_WINDOW.
  explicit MatmulWalk(const MatmulCommand& matmul, std::uint32_t taps = 1)
      : rows_(matmul.rows),
        k_tiles_(matmul.count * taps),
        n_tiles_(matmul.passes),
        blocks_(matmul.blocks),
        accumulate_((matmul.flags & flag::kAccumulate) != 0),
        retain_((matmul.flags & flag::kRetain) != 0),
        retain_weights_((matmul.flags & flag::kRetainWeights) != 0),
        window_((matmul.flags & flag::kWindow) != 0) {}

  /// Are all tiles done?
  bool done() const { return m_ == blocks_; }
  void next() {
    if (++k_ != k_tiles_) return;
    k_ = 0;
    if (++n_ != n_tiles_) return;
    n_ = 0;
    ++m_;
  }

  /// Skips tiles of the block, fewer than it has left.
  void skip(std::uint32_t tiles) { k_ += tiles; }
  /// Tiles that the block has left.
  std::uint32_t left_in_block() const { return accumulate_ ? k_tiles_ - k_ : 1; }

  /// Rows of activations of each tile.
  std::uint32_t rows() const { return rows_; }
  /// The tile's place, each coordinate from 0.
  std::uint32_t m() const { return m_; }
  std::uint32_t k() const { return k_; }
  std::uint32_t n() const { return n_; }

  /// Does the tile begin, or end, a block of results?
  bool begins_block() const { return !accumulate_ || k_ == 0; }
  bool ends_block() const { return !accumulate_ || k_ + 1 == k_tiles_; }

  /// Do the tile's activations leave the scratchpad as they are read?
  bool releases() const { return !retain_ || n_ + 1 == n_tiles_; }
  /// Do the tile's weights leave their buffer as they are read?
  bool releases_weights() const { return !retain_weights_ || (!window_ && m_ + 1 == blocks_); }
  /// Does the next block, of a window that of the next command, take the tiles of this one again,
  /// of which this is the last?
  bool rewinds_weights() const {
    return !releases_weights() && n_ + 1 == n_tiles_ && k_ + 1 == k_tiles_;
  }
  /// Tiles of weights that a block takes.
  std::uint64_t block_tiles() const { return std::uint64_t{k_tiles_} * n_tiles_; }
  /// The first of the tile's words, counted over those that the command takes from the scratchpad.
  std::uint64_t first_word() const {
    const std::uint64_t passes = retain_ ? m_ : std::uint64_t{m_} * n_tiles_ + n_;
    return (passes * k_tiles_ + k_) * rows_;
  }

 private:
  std::uint32_t rows_, k_tiles_, n_tiles_, blocks_;
  bool accumulate_, retain_, retain_weights_, window_;
  std::uint32_t m_ = 0, k_ = 0, n_ = 0;
};

}  // namespace gemm64

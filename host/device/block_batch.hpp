// SPDX-License-Identifier: Apache-2.0
// Blocks of sums whose products are deferred, so that many are computed together on all cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/device/device_memory.hpp"
#include "host/device/tile_product.hpp"

namespace gemm64 {

/// Each block is computed by one thread, tile after tile: how many there are changes no result.
class BlockBatch {
 public:
  /// Of an array of n x n; the memory outlives it, and no one writes operands before compute().
  BlockBatch(std::size_t n, DeviceMemory& memory) : n_(n), memory_(memory) {}

  /// Words of a tile that follow each other: in the memory, or gathered.
  struct Words {
    std::uint64_t place;
    bool gathered;
  };

  /// Room for `count` words that the caller fills before the next call.
  Words gather(std::uint64_t count, std::uint8_t*& room);

  /// The next block, of `rows` rows, starts at zero, or goes on from `sums`.
  void begin(std::uint32_t rows, const std::uint32_t* sums);
  /// A tile of the block that began last.
  void add(const Words& weights, const Words& activations);

  bool empty() const { return blocks_.empty(); }
  /// Is it large enough to be computed now?
  bool full() const;

  /// Computes the sums of all blocks.
  void compute();

  std::size_t blocks() const { return blocks_.size(); }
  std::uint32_t rows(std::size_t block) const { return blocks_[block].rows; }
  /// A block's sums, row by row.
  const std::uint32_t* sums(std::size_t block) const {
    return sums_.data() + blocks_[block].first_sum;
  }

  /// Empties it.
  void clear();

 private:
  struct Block {
    std::uint32_t rows;
    bool add;  // to what the sums are
    std::size_t first_sum, first_tile, tiles;
  };
  struct Tile {
    Words weights, activations;
  };

  void find_operands();
  const std::uint8_t* find(const Words& words, std::uint64_t count);
  std::size_t threads() const;

  const std::size_t n_;
  DeviceMemory& memory_;
  std::vector<Block> blocks_;
  std::vector<Tile> tiles_;
  std::vector<TileOperands> operands_;  // of each tile
  // Both only grow, so that their memory is cleared once.
  std::vector<std::uint32_t> sums_;
  std::vector<std::uint8_t> gathered_;
  std::size_t used_sums_ = 0, used_gathered_ = 0;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace gemm64

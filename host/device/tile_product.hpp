// SPDX-License-Identifier: Apache-2.0
// Products of tiles, as fast as this machine can do them exactly.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gemm64 {

/// A tile's operands as they lie in memory, words of n int8 values: a word of weights for each
/// column, and one of activations for each row.
struct TileOperands {
  const std::uint8_t* weights;
  const std::uint8_t* activations;
};

class TileProduct {
 public:
  /// For an array of n x n, n at most kMax.
  explicit TileProduct(std::size_t n) : n_(n) {}

  static constexpr std::size_t kMax = 64;

  /// sums[row][column] = (add ? sums[row][column] : 0) + the product of row and column, summed over
  /// the `count` tiles, modulo 2^32. `rows` words of activations follow each other, and as many
  /// rows of n sums.
  void multiply(const TileOperands* tiles, std::size_t count, std::size_t rows, bool add,
                std::uint32_t* sums);

 private:
  void multiply_any(const TileOperands& tile, std::size_t rows, bool add, std::uint32_t* sums);

  static constexpr std::size_t kTogether = 4;  // tiles whose sums stay in registers

  const std::size_t n_;
  // Where the processor multiplies int8 in fours (n = 64): tiles as [k / 4][column][k % 4], with
  // the top bit of each weight flipped.
  alignas(64) [[maybe_unused]] std::uint8_t fours_[kTogether * kMax * kMax];
  std::int32_t weights_[kMax * kMax];  // else [k][column]
};

}  // namespace gemm64

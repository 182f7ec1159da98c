// SPDX-License-Identifier: Apache-2.0
// One tile's product, as fast as this machine can do it exactly.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gemm64 {

/// A tile of weights made ready for products with rows of activations.
class TileProduct {
 public:
  /// For an array of n x n, n at most kMax.
  explicit TileProduct(std::size_t n) : n_(n) {}

  static constexpr std::size_t kMax = 64;

  /// Takes n words of n int8 weights, a word for each column, as they lie in memory.
  void set_weights(const std::uint8_t* words);

  /// sums[row][column] = (add ? sums[row][column] : 0) + the product of row and column, modulo
  /// 2^32, for `rows` words of n int8 activations that follow each other, and as many rows of n
  /// sums.
  void multiply(const std::uint8_t* words, std::size_t rows, bool add, std::uint32_t* sums) const;

 private:
  void multiply_any(const std::uint8_t* words, std::size_t rows, bool add,
                    std::uint32_t* sums) const;

  const std::size_t n_;
  // Where the processor multiplies int8 in fours (n = 64): [k / 4][column][k % 4]; else
  // [k][column].
  alignas(64) std::int8_t fours_[kMax * kMax];
  alignas(64) std::int32_t offset_[kMax];  // 128 times the sum of each column's weights
  std::int32_t weights_[kMax * kMax];
};

}  // namespace gemm64

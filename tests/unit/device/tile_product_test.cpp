// SPDX-License-Identifier: Apache-2.0
#include "host/device/tile_product.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// What the product must be, as one would write it down.
std::vector<std::uint32_t> expected(std::size_t n, const std::vector<std::uint8_t>& weights,
                                    const std::vector<std::uint8_t>& activations, bool add,
                                    std::vector<std::uint32_t> sums) {
  for (std::size_t row = 0; row < activations.size() / n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      std::uint32_t sum = add ? sums[row * n + column] : 0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += static_cast<std::uint32_t>(static_cast<std::int8_t>(activations[row * n + k]) *
                                          static_cast<std::int8_t>(weights[column * n + k]));
      }
      sums[row * n + column] = sum;
    }
  }
  return sums;
}

TEST(TileProduct, EqualsDefinitionForAnyRows) {
  std::mt19937 random(11);
  for (const std::size_t n : {2, 4, 8, 16, 32, 64}) {
    TileProduct product(n);
    for (std::size_t rows = 1; rows <= 30; ++rows) {
      SCOPED_TRACE("n " + std::to_string(n) + ", rows " + std::to_string(rows));
      std::vector<std::uint8_t> weights(n * n), activations(rows * n);
      std::vector<std::uint32_t> sums(rows * n);
      // Extremes as often as others; sums near the wrap.
      const auto draw = [&] {
        return random() % 4 == 0 ? 0x80 : random() % 4 == 0 ? 0x7f : random();
      };
      for (auto& value : weights) value = static_cast<std::uint8_t>(draw());
      for (auto& value : activations) value = static_cast<std::uint8_t>(draw());
      for (auto& value : sums) value = static_cast<std::uint32_t>(random());
      const bool add = random() % 2 != 0;
      const std::vector<std::uint32_t> wanted = expected(n, weights, activations, add, sums);
      const TileOperands tile{weights.data(), activations.data()};
      product.multiply(&tile, 1, rows, add, sums.data());
      ASSERT_EQ(sums, wanted);
    }
  }
}

TEST(TileProduct, AddsTheProductsOfManyTiles) {
  std::mt19937 random(12);
  for (const std::size_t n : {8, 64}) {
    TileProduct product(n);
    for (std::size_t count = 0; count <= 13; ++count) {
      SCOPED_TRACE("n " + std::to_string(n) + ", tiles " + std::to_string(count));
      const std::size_t rows = 1 + random() % 20;
      std::vector<std::uint8_t> weights(count * n * n), activations(count * rows * n);
      for (auto& value : weights) value = static_cast<std::uint8_t>(random());
      for (auto& value : activations) value = static_cast<std::uint8_t>(random());
      std::vector<std::uint32_t> sums(rows * n, 5), wanted = sums;
      std::vector<TileOperands> tiles;
      for (std::size_t i = count; i-- != 0;) {  // they need not follow each other
        tiles.push_back({weights.data() + i * n * n, activations.data() + i * rows * n});
        const auto* const w = tiles.back().weights;
        const auto* const a = tiles.back().activations;
        wanted = expected(n, {w, w + n * n}, {a, a + rows * n}, true, wanted);
      }
      product.multiply(tiles.data(), count, rows, true, sums.data());
      ASSERT_EQ(sums, wanted);
    }
  }
}

TEST(TileProduct, HoldsTheLargestSums) {
  for (const std::uint8_t a : {0x80, 0x7f}) {
    for (const std::uint8_t w : {0x80, 0x7f}) {
      TileProduct product(64);
      const std::vector<std::uint8_t> weights(64 * 64, w), activations(7 * 64, a);
      std::vector<std::uint32_t> sums(7 * 64);
      const TileOperands tile{weights.data(), activations.data()};
      product.multiply(&tile, 1, 7, false, sums.data());
      EXPECT_EQ(sums,
                expected(64, weights, activations, false, std::vector<std::uint32_t>(7 * 64)));
    }
  }
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A product C[M x N] = A[M x K] * W[N x K]^T cut into the tiles of a user's array.
#pragma once

#include <cstdint>
#include <vector>

#include "host/dut/stimulus.hpp"

namespace gemm64::dut {

using Operands = Matrix<std::int32_t>;

/// Where a tile begins and how much of it is not padding.
struct TilePlace {
  std::int64_t m = 0, k = 0, n = 0;
  std::int64_t rows = 0, depth = 0, columns = 0;  // of M, K and N
};

struct ProductShape {
  std::int64_t m = 0, k = 0, n = 0;
};

/// The tiles in the order in which they run. Tiles that add to the same results follow each other
/// along K, unless the array adds partial sums itself: then all tiles of one K come first.
std::vector<TilePlace> tiles_of(const Description& description, const ProductShape& shape);

/// The tile's operands, padded with zeros to the array's size and shortest length.
Tile tile_at(const Description& description, const Operands& a, const Operands& w,
             const TilePlace& place);

/// The value of C[place.m + m][place.n + n] among a tile's results.
std::int64_t result_at(const Description& description, const Values& results, std::int64_t m,
                       std::int64_t n);

/// Fewest cycles in which the streams can carry these tiles, without the array's pipeline: the
/// stationary operand enters before or, double-buffered, during the moving one of the tile before;
/// results of an output-stationary array leave after, or during, the next tile.
std::uint64_t stream_bound(const Description& description, const std::vector<TilePlace>& tiles);

}  // namespace gemm64::dut

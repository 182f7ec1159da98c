// SPDX-License-Identifier: Apache-2.0
// How one product C[M x N] = A[M x K] * W[N x K]^T is cut into blocks for the array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/result_format.hpp"

namespace gemm64 {

/// Sizes of a product, each at least 1.
struct GemmShape {
  std::uint64_t m = 0;
  std::uint64_t k = 0;
  std::uint64_t n = 0;

  std::uint64_t macs() const { return m * k * n; }
};

/// Where the partial sums of the tiles along K are added.
enum class Accumulate { kDevice, kHost };

/// Blocks of M that follow each other and have the same number of rows.
struct RowGroup {
  std::uint64_t first_row = 0;
  std::uint32_t rows = 0;    // of each block
  std::uint32_t blocks = 0;  // how many
  bool retain = false;       // a block's activations stay on chip and serve every tile of N
};

/// The cut: M into blocks of rows, K and N into tiles of the array's size, the last of each padded
/// with zeros. Order of the work: blocks of M; in each the tiles of N; in each the tiles of K.
struct Plan {
  GemmShape shape;
  Accumulate accumulate = Accumulate::kDevice;
  ResultFormat results = ResultFormat::int32();
  std::uint32_t array = 0;  // the array's N
  std::uint32_t k_tiles = 0;
  std::uint32_t n_tiles = 0;
  std::vector<RowGroup> groups;  // one or two

  /// Tiles of weights.
  std::uint64_t tiles() const { return std::uint64_t{k_tiles} * n_tiles; }
  /// Blocks of M.
  std::uint64_t row_blocks() const;
  /// Blocks of results that leave the device for one block of M.
  std::uint64_t result_blocks() const {
    return accumulate == Accumulate::kDevice ? n_tiles : tiles();
  }
  /// Bytes of the packed weights, of the packed activations and of all blocks of results.
  std::uint64_t weight_bytes() const { return tiles() * array * array; }
  std::uint64_t activation_bytes() const { return shape.m * k_tiles * array; }
  std::uint64_t result_bytes() const {
    return results.block_bytes(shape.m * result_blocks(), array);
  }
};

/// Bytes that cross each port for a plan and its program; the device's counters give the same.
struct Traffic {
  std::uint64_t weights = 0;
  std::uint64_t activations = 0;
  std::uint64_t results = 0;
  std::uint64_t commands = 0;

  friend bool operator==(const Traffic& a, const Traffic& b) {
    return a.weights == b.weights && a.activations == b.activations && a.results == b.results &&
           a.commands == b.commands;
  }
};

/// Cuts a product for an accelerator. M is cut into as few blocks as the accumulator allows, of as
/// even a height as can be: a block takes max(rows, N) clocks a tile, so a low last block would
/// waste most of them. Throws UsageError where a size is zero or a count does not fit a command.
Plan make_plan(const GemmShape& shape, Accumulate accumulate, const Geometry& geometry);

/// The bytes over each port: weights once for each block of M; activations once, or once for each
/// tile of N where they do not stay on chip; results once.
Traffic predict_traffic(const Plan& plan);

}  // namespace gemm64

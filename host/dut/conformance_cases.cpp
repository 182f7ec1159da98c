// SPDX-License-Identifier: Apache-2.0
#include "host/dut/conformance_cases.hpp"

#include <algorithm>

#include "host/dut/network_products.hpp"
#include "host/dut/tiling.hpp"

namespace gemm64::dut {
namespace {

using Cases = std::vector<Case>;
using Index = Eigen::Index;

std::int64_t allowed(const Description& of, std::int64_t length) {
  std::int64_t most = of.max_length == 0 ? length : of.max_length;
  if (of.output_stationary() && of.overflow == Overflow::kRefuse) {
    most = std::min(most, static_cast<std::int64_t>(of.longest_sum()));
  }
  return std::max<std::int64_t>(of.min_length, std::min(length, most));
}

/// The operand that moves and the one that stays; of output-stationary arrays both move.
struct Roles {
  Values Tile::*moving;
  Values Tile::*staying;
  const Operand& moving_type;
  const Operand& staying_type;
};

Roles roles_of(const Description& of) {
  if (of.dataflow == Dataflow::kInputStationary) {
    return {&Tile::weights, &Tile::activations, of.weights, of.activations};
  }
  return {&Tile::activations, &Tile::weights, of.activations, of.weights};
}

/// The value that leaves the other operand as it is; of fixed-point values, the 1.
std::int64_t unit(const Description& of, const Operand& type) {
  return std::min(type.high(), std::int64_t{1} << of.product_shift);
}

/// A tile of one value for each operand.
Tile constant_tile(const Description& of, std::int64_t length, std::int64_t moving,
                   std::int64_t staying) {
  Tile tile = random_tile(of, length, 1);
  const Roles roles = roles_of(of);
  (tile.*roles.moving).setConstant(moving);
  (tile.*roles.staying).setConstant(staying);
  if (tile.sums.size() != 0) tile.sums.setZero();
  return tile;
}

Case one_tile(Tile tile) {
  Case one;
  one.stimulus.tiles.push_back(std::move(tile));
  return one;
}

Case many_tiles(const Description& of, unsigned count, std::int64_t length, std::uint32_t seed) {
  Case one;
  for (unsigned i = 0; i < count; ++i) {
    // Lengths differ, so that a tile's end cannot be guessed.
    one.stimulus.tiles.push_back(random_tile(of, 1 + (length + i) % (length + 2), seed + i));
  }
  return one;
}

std::int64_t side(const Description& of) { return std::max(of.rows, of.columns); }

Cases values_cases(const Description& of) {
  Cases all;
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{2}, std::int64_t{of.rows}}) {
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      all.push_back(one_tile(random_tile(of, length, seed)));
    }
  }
  return all;
}

/// Each value of the moving operand meets each cell by itself.
Cases cell_cases(const Description& of) {
  Cases all;
  const Roles roles = roles_of(of);
  // One-hot rows of the moving operand: results are the staying operand, cell by cell.
  const std::int64_t length = allowed(of, of.rows);
  Tile hot = random_tile(of, length, 5);
  if (hot.sums.size() != 0) hot.sums.setZero();
  Values& moving = hot.*roles.moving;
  moving.setZero();
  for (Index i = 0; i < moving.rows(); ++i)
    moving(i, i % moving.cols()) = unit(of, roles.moving_type);
  all.push_back(one_tile(hot));
  for (Index i = 0; i < moving.rows(); ++i) {
    moving(i, i % moving.cols()) =
        roles.moving_type.is_signed ? -unit(of, roles.moving_type) : roles.moving_type.high();
  }
  all.push_back(one_tile(hot));
  // One-hot columns of the staying one: each column of results is one lane of the moving operand.
  const auto shifts = static_cast<Index>(std::min<std::int64_t>(side(of), 64));
  for (Index shift = 0; shift < shifts; ++shift) {
    Tile tile = random_tile(of, of.rows, 7 + static_cast<std::uint32_t>(shift));
    if (tile.sums.size() != 0) tile.sums.setZero();
    Values& staying = tile.*roles.staying;
    staying.setZero();
    for (Index c = 0; c < staying.cols(); ++c)
      staying((c + shift) % staying.rows(), c) = unit(of, roles.staying_type);
    all.push_back(one_tile(tile));
  }
  return all;
}

Cases zero_cases(const Description& of) {
  const Roles roles = roles_of(of);
  return {one_tile(constant_tile(of, 2, 0, 0)),
          one_tile(constant_tile(of, 2, roles.moving_type.high(), 0)),
          one_tile(constant_tile(of, 2, 0, roles.staying_type.high()))};
}

/// The longest sum that must fit: all rows, and of an output-stationary array as many beats as
/// sums hold.
Cases extreme_cases(const Description& of) {
  Cases all;
  const Roles roles = roles_of(of);
  constexpr std::int64_t kMost = 140'000;
  std::vector<std::int64_t> lengths{1, 2};
  if (of.output_stationary()) {
    for (std::int64_t length = 8; length < allowed(of, kMost); length *= 4)
      lengths.push_back(length);
    lengths.push_back(allowed(of, kMost));
  }
  for (const std::int64_t length : lengths) {
    for (const std::int64_t moving : {roles.moving_type.low(), roles.moving_type.high()}) {
      for (const std::int64_t staying : {roles.staying_type.low(), roles.staying_type.high()}) {
        all.push_back(one_tile(constant_tile(of, length, moving, staying)));
      }
    }
  }
  if (!of.partial_sums) return all;
  for (const std::int64_t sum : {of.sums.low(), of.sums.high()}) {
    Case one = one_tile(constant_tile(of, 2, 0, 0));
    one.stimulus.tiles[0].sums.setConstant(sum);
    all.push_back(one);
  }
  return all;
}

Cases length_cases(const Description& of) {
  Cases all;
  for (std::int64_t length = 1; length <= 3 * side(of) + 1; ++length) {
    if (allowed(of, length) != length) continue;
    all.push_back(one_tile(random_tile(of, length, static_cast<std::uint32_t>(length))));
  }
  return all;
}

Cases tile_cases(const Description& of) {
  return {many_tiles(of, 2, 1, 11),       many_tiles(of, 2, of.rows, 12),
          many_tiles(of, 3, 2, 13),       many_tiles(of, 8, 1, 14),
          many_tiles(of, 8, of.rows, 15), many_tiles(of, 5, 2 * of.rows, 16),
          many_tiles(of, 24, 3, 17)};
}

/// Whole products around multiples of the array, cut as `run` cuts them.
Cases product_cases(const Description& of) {
  Cases all;
  const std::int64_t r = of.rows;
  const std::int64_t c = of.columns;
  const ProductShape shapes[] = {{1, 1, 1},
                                 {1, r + 1, c + 1},
                                 {r - 1, r - 1, c - 1},
                                 {r, r, c},
                                 {r + 1, r, c + 1},
                                 {2, 2 * r - 1, c},
                                 {c + 1, 2 * r + 1, 2 * c - 1},
                                 {2 * r, 2 * r, 2 * c},
                                 {3, 3 * r - 1, 2 * c + 1},
                                 {3 * r, r, 3 * c}};
  std::uint32_t seed = 100;
  for (const ProductShape& shape : shapes) {
    if (shape.m < 1 || shape.k < 1 || shape.n < 1) continue;
    const Operands a = random_operands(shape.m, shape.k, of.activations, ++seed);
    const Operands w = random_operands(shape.n, shape.k, of.weights, ++seed);
    Case one;
    for (const TilePlace& place : tiles_of(of, shape)) {
      one.stimulus.tiles.push_back(tile_at(of, a, w, place));
    }
    all.push_back(one);
  }
  return all;
}

Cases stalled(const Description& of, std::vector<Stream> streams) {
  Cases all;
  for (const std::uint32_t probability : {0x4000U, 0x8000U, 0xe000U}) {
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
      Case one = many_tiles(of, seed, seed % 2 == 0 ? of.rows : 2, 20 + seed);
      for (const Stream stream : streams) {
        one.stimulus.stalls[stream] = {probability, seed * 7 + stream};
      }
      all.push_back(one);
    }
  }
  return all;
}

Cases withheld_cases(const Description& of) {
  Case one = many_tiles(of, 2, 3, 31);
  one.stimulus.flags |= kWithhold;
  return {one};
}

Cases quiet_cases(const Description& of) {
  Cases all;
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{of.rows}}) {
    Case one = many_tiles(of, 2, length, 41);
    one.stimulus.flags |= kQuiet;
    one.stimulus.quiet_cycles = 4 * (of.rows + of.columns) + 32;
    all.push_back(one);
  }
  return all;
}

/// Registers start with other values each time.
Cases reset_cases(const Description& of) {
  Cases all;
  for (std::uint32_t seed = 2; seed <= 9; ++seed) {
    Case one = one_tile(random_tile(of, 2, seed));
    one.seed = seed;
    one.stimulus.flags |= kQuiet;
    one.stimulus.quiet_cycles = 2 * (of.rows + of.columns) + 16;
    all.push_back(one);
  }
  return all;
}

/// The tile comes after a reset in some cycle of other tiles.
Cases reset_in_flight_cases(const Description& of) {
  Cases all;
  const std::uint64_t span = 3 * std::uint64_t{of.rows} + of.columns + 8;
  const std::uint64_t step = std::max<std::uint64_t>(1, span / 24);
  for (std::uint64_t at = 1; at <= span; at += step) {
    Case one = many_tiles(of, 3, of.rows, static_cast<std::uint32_t>(50 + at));
    one.stimulus.reset_at = at;
    all.push_back(one);
  }
  return all;
}

}  // namespace

Tile random_tile(const Description& of, std::int64_t length, std::uint32_t seed) {
  length = allowed(of, length);
  const std::int64_t rows = of.rows;
  const std::int64_t columns = of.columns;
  const bool input = of.dataflow == Dataflow::kInputStationary;
  const bool output = of.output_stationary();
  Tile tile;
  const auto draw = [seed](std::int64_t height, std::int64_t width, const Operand& type,
                           std::uint32_t salt) {
    return Values(random_operands(height, width, type, seed * 977 + salt).cast<std::int64_t>());
  };
  tile.weights = draw(input || output ? length : rows, input ? rows : columns, of.weights, 1);
  tile.activations = draw(input ? rows : length, input ? columns : rows, of.activations, 2);
  if (of.partial_sums) {
    // Small, so that the sum with the products still fits.
    tile.sums =
        draw(output ? rows : length, columns, {of.sums.bits > 12 ? 8 : 2, of.sums.is_signed}, 3);
  }
  return tile;
}

const std::vector<RuleCases>& rules_with_cases() {
  const auto stalls = [](std::vector<Stream> streams) {
    return [streams](const Description& of) { return stalled(of, streams); };
  };
  static const std::vector<RuleCases> all{
      {"reset", "after a reset nothing depends on values from before", reset_cases},
      {"zeros", "products of zeros are zero", zero_cases},
      {"cells", "one-hot operands: each cell is wired to its row and column", cell_cases},
      {"values", "one tile of random operands", values_cases},
      {"extremes", "the largest products over all of K fit the sum", extreme_cases},
      {"lengths", "every length from 1 to 3 N", length_cases},
      {"tiles", "tiles that follow each other at once", tile_cases},
      {"products", "products around multiples of the array", product_cases},
      {"stalls-weights", "gaps between weights", stalls({kWeights})},
      {"stalls-activations", "gaps between activations", stalls({kActivations})},
      {"stalls-sums", "gaps between partial sums", stalls({kSums})},
      {"stalls-results", "results that are not accepted at once", stalls({kResults})},
      {"stalls-all", "gaps and waits on all streams",
       stalls({kWeights, kActivations, kSums, kResults})},
      {"valid-first", "TVALID does not wait for TREADY", withheld_cases},
      {"quiet", "no result without input", quiet_cases},
      {"reset-in-flight", "a reset forgets what is in flight", reset_in_flight_cases},
  };
  return all;
}

}  // namespace gemm64::dut

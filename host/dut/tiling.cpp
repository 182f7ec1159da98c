// SPDX-License-Identifier: Apache-2.0
#include "host/dut/tiling.hpp"

#include <algorithm>
#include <array>

namespace gemm64::dut {
namespace {

enum Axis { kM, kK, kN };

struct Plan {
  std::array<std::int64_t, 3> size, step;
  std::array<Axis, 3> order;  // outermost first
};

Plan plan_of(const Description& of, const ProductShape& shape) {
  constexpr std::int64_t kAny = std::int64_t{1} << 40;
  const std::int64_t length = of.max_length == 0 ? kAny : of.max_length;
  const std::int64_t rows = of.rows;
  const std::int64_t columns = of.columns;
  Plan plan{{shape.m, shape.k, shape.n}, {}, {}};
  switch (of.dataflow) {
    case Dataflow::kWeightStationary:
      plan.step = {length, rows, columns};
      plan.order = {kN, kM, kK};
      break;
    case Dataflow::kInputStationary:
      plan.step = {columns, rows, length};
      plan.order = {kM, kN, kK};
      break;
    case Dataflow::kOutputStationary: {
      const auto longest = static_cast<std::int64_t>(std::max<std::uint64_t>(1, of.longest_sum()));
      plan.step = {rows, std::min(length, longest), columns};
      plan.order = {kN, kM, kK};
      break;
    }
  }
  if (of.partial_sums) plan.order = {kK, kM, kN};
  return plan;
}

/// Beats of the moving operand.
std::int64_t length_of(const Description& of, const TilePlace& place) {
  const std::int64_t length = of.dataflow == Dataflow::kWeightStationary  ? place.rows
                              : of.dataflow == Dataflow::kInputStationary ? place.columns
                                                                          : place.depth;
  return std::max<std::int64_t>(length, of.min_length);
}

/// A block of `from` in a matrix of zeros.
Values padded(const Operands& from, std::int64_t row, std::int64_t column, std::int64_t rows,
              std::int64_t columns, std::int64_t all_rows, std::int64_t all_columns) {
  Values block = Values::Zero(all_rows, all_columns);
  block.topLeftCorner(rows, columns) = from.block(row, column, rows, columns).cast<std::int64_t>();
  return block;
}

Values padded_transposed(const Operands& from, std::int64_t row, std::int64_t column,
                         std::int64_t rows, std::int64_t columns, std::int64_t all_rows,
                         std::int64_t all_columns) {
  Values block = Values::Zero(all_rows, all_columns);
  block.topLeftCorner(columns, rows) =
      from.block(row, column, rows, columns).transpose().cast<std::int64_t>();
  return block;
}

}  // namespace

std::vector<TilePlace> tiles_of(const Description& description, const ProductShape& shape) {
  const Plan plan = plan_of(description, shape);
  std::vector<TilePlace> tiles;
  std::array<std::int64_t, 3> at{};
  const auto [outer, middle, inner] = plan.order;
  const auto extent = [&](Axis axis) {
    return std::min(plan.step[axis], plan.size[axis] - at[axis]);
  };
  for (at[outer] = 0; at[outer] < plan.size[outer]; at[outer] += plan.step[outer]) {
    for (at[middle] = 0; at[middle] < plan.size[middle]; at[middle] += plan.step[middle]) {
      for (at[inner] = 0; at[inner] < plan.size[inner]; at[inner] += plan.step[inner]) {
        tiles.push_back({at[kM], at[kK], at[kN], extent(kM), extent(kK), extent(kN)});
      }
    }
  }
  return tiles;
}

Tile tile_at(const Description& description, const Operands& a, const Operands& w,
             const TilePlace& place) {
  const std::int64_t rows = description.rows;
  const std::int64_t columns = description.columns;
  const std::int64_t length = length_of(description, place);
  const auto& [m, k, n, height, depth, width] = place;
  switch (description.dataflow) {
    case Dataflow::kWeightStationary:
      return {padded_transposed(w, n, k, width, depth, rows, columns),
              padded(a, m, k, height, depth, length, rows),
              {}};
    case Dataflow::kOutputStationary:
      return {padded_transposed(w, n, k, width, depth, length, columns),
              padded_transposed(a, m, k, height, depth, length, rows),
              {}};
    case Dataflow::kInputStationary:
      return {padded(w, n, k, width, depth, length, rows),
              padded_transposed(a, m, k, height, depth, rows, columns),
              {}};
  }
  return {};
}

std::int64_t result_at(const Description& description, const Values& results, std::int64_t m,
                       std::int64_t n) {
  return description.dataflow == Dataflow::kInputStationary ? results(n, m) : results(m, n);
}

std::uint64_t stream_bound(const Description& description, const std::vector<TilePlace>& tiles) {
  const auto rows = static_cast<std::int64_t>(description.rows);
  std::int64_t cycles = rows;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::int64_t length = length_of(description, tiles[i]);
    if (i + 1 == tiles.size()) {
      cycles += length;
    } else {
      cycles += description.double_buffered ? std::max(length, rows) : length + rows;
    }
  }
  return static_cast<std::uint64_t>(cycles);
}

}  // namespace gemm64::dut

// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "host/tiling/tile_walk.hpp"
#include "host/tiling/window_packing.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

void check_shape(const char* what, const MatrixI8& matrix, std::uint64_t rows,
                 std::uint64_t columns) {
  if (static_cast<std::uint64_t>(matrix.rows()) != rows ||
      static_cast<std::uint64_t>(matrix.cols()) != columns) {
    throw std::invalid_argument(fmt::format("{} are {}x{}; the job is for {}x{}", what,
                                            matrix.rows(), matrix.cols(), rows, columns));
  }
}

/// Copies columns [tile * array, ...) of one row; lanes outside the matrix stay as they are.
void copy_word(std::uint8_t* word, const MatrixI8& matrix, std::uint64_t row, std::uint64_t tile,
               std::uint64_t array) {
  const std::uint64_t columns = static_cast<std::uint64_t>(matrix.cols());
  const std::uint64_t first = tile * array;
  std::memcpy(word, matrix.data() + row * columns + first, std::min(array, columns - first));
}

/// Columns of tile `n` that lie inside the product.
std::uint64_t columns_of(const Plan& plan, std::uint64_t n) {
  return std::min<std::uint64_t>(plan.array, plan.shape.n - n * plan.array);
}

/// Low byte first.
void put_word(std::uint8_t* to, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// Modulo 2^32, in unsigned arithmetic, where that is defined.
std::int32_t add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

/// Weights, a row for each column from the first lane on.
std::vector<std::uint8_t> packed_weights(const Job& job, const MatrixI8& weights) {
  const Plan& plan = job.plan;
  if (plan.window) return pack_window_weights(*plan.window, weights);
  if (plan.lanes) return pack_lane_weights(*plan.lanes, weights, plan.array);
  std::vector<std::uint8_t> packed(plan.weight_bytes());
  std::uint8_t* word = packed.data();
  for (std::uint64_t i = 0; i < plan.products * plan.tiles();
       ++i, word += plan.array * plan.array) {
    const std::uint64_t k = i % plan.k_tiles, n = i / plan.k_tiles % plan.n_tiles;
    const std::uint64_t first = i / plan.tiles() * plan.shape.n + n * plan.array;
    for (std::uint64_t column = 0; column < plan.lanes_of(static_cast<std::uint32_t>(n)).second;
         ++column) {
      copy_word(word + column * plan.array, weights, first + column, k, plan.array);
    }
  }
  return packed;
}

}  // namespace

std::vector<std::uint8_t> pack_weights(const Job& job, const MatrixI8& weights) {
  const Plan& plan = job.plan;
  check_shape("weights", weights, plan.products * plan.shape.n, plan.shape.k);
  if (plan.first_lane() != 0) {
    const auto ahead = static_cast<Eigen::Index>(plan.first_lane());
    MatrixI8 shifted = MatrixI8::Zero(weights.rows() + ahead, weights.cols());
    shifted.bottomRows(weights.rows()) = weights;
    return packed_weights(job, shifted);
  }
  return packed_weights(job, weights);
}

std::vector<std::uint8_t> pack_activations(const Job& job, const MatrixI8& activations) {
  const Plan& plan = job.plan;
  if (const Convolution* const c = plan.convolution()) {
    check_shape("activations", activations, c->pixels(), c->channels);
    return pack_pixels(activations, plan.array);
  }
  check_shape("activations", activations, plan.shape.m, plan.shape.k);
  std::vector<std::uint8_t> packed(plan.activation_bytes());
  std::uint8_t* word = packed.data();
  for (std::uint64_t tile = 0; tile < plan.k_tiles; ++tile) {
    for (std::uint64_t row = 0; row < plan.shape.m; ++row, word += plan.array) {
      copy_word(word, activations, row, tile, plan.array);
    }
  }
  return packed;
}

std::vector<std::uint8_t> pack_parameters(const Job& job, const std::vector<std::int32_t>& bias,
                                          const std::vector<float>& scales,
                                          const std::vector<std::uint8_t>& table) {
  const Plan& plan = job.plan;
  if (table.size() != plan.table_bytes()) {
    throw std::invalid_argument(fmt::format("a table of {} bytes; the job takes one of {}",
                                            table.size(), plan.table_bytes()));
  }
  const std::uint64_t columns = plan.products * plan.shape.n;
  if (bias.size() != columns || scales.size() != columns) {
    throw std::invalid_argument(fmt::format("{} biases and {} scales; the job has {} columns",
                                            bias.size(), scales.size(), columns));
  }
  std::vector<std::uint8_t> packed(plan.parameter_bytes());
  const std::uint64_t half = std::uint64_t{plan.array} * sizeof(float);
  for (std::uint64_t column = 0; column < columns; ++column) {
    if (!(scales[column] >= 0) || std::isinf(scales[column])) {
      throw UsageError(
          fmt::format("{}: the scale of column {} is {}; it must be finite and at "
                      "least 0",
                      job.name, column, scales[column]));
    }
    const std::uint64_t place = plan.first_lane() + column % plan.shape.n;
    std::uint8_t* const at = packed.data() + column / plan.shape.n * plan.parameter_set_bytes() +
                             place / plan.array * 2 * half + place % plan.array * sizeof(float);
    put_word(at, static_cast<std::uint32_t>(bias[column]));
    std::uint32_t bits;
    std::memcpy(&bits, &scales[column], sizeof bits);
    put_word(at + half, bits);
  }
  std::copy(table.begin(), table.end(), packed.end() - static_cast<std::ptrdiff_t>(table.size()));
  return packed;
}

std::vector<std::uint8_t> pack_operands(const Job& job, const MatrixI8& operands) {
  const Plan& plan = job.plan;
  if (plan.first_lane() != 0) throw std::invalid_argument("second operands begin with a tile");
  const std::uint64_t rows = plan.operand_rows();
  check_shape("second operands", operands, rows, plan.shape.n);
  std::vector<std::uint8_t> packed(plan.operand_bytes());
  std::uint8_t* word = packed.data();
  for (std::uint64_t tile = 0; tile < plan.n_tiles; ++tile) {
    for (std::uint64_t row = 0; row < rows; ++row, word += plan.array) {
      copy_word(word, operands, row, tile, plan.array);
    }
  }
  return packed;
}

std::vector<std::int32_t> result_values(ResultFormat format,
                                        const std::vector<std::uint8_t>& blocks) {
  std::vector<std::int32_t> values(blocks.size() / format.bytes());
  const auto widen = [&](auto type) {
    const std::uint8_t* from = blocks.data();
    for (std::int32_t& value : values) {
      std::memcpy(&type, from, sizeof type);
      value = static_cast<std::int32_t>(type);
      from += sizeof type;
    }
  };
  if (!format.takes_parameters()) {
    widen(std::int32_t{});
  } else if (format.is_signed()) {
    widen(std::int8_t{});
  } else {
    widen(std::uint8_t{});
  }
  return values;
}

MatrixI32 unpack_results(const Job& job, const std::vector<std::int32_t>& results) {
  const Plan& plan = job.plan;
  const std::uint64_t expected = plan.result_bytes() / plan.results().bytes();
  if (results.size() != expected) {
    throw std::invalid_argument(
        fmt::format("{} results, the job gives {}", results.size(), expected));
  }
  MatrixI32 sums(static_cast<Eigen::Index>(plan.shape.m), static_cast<Eigen::Index>(plan.shape.n));
  const std::uint64_t m = plan.shape.m, n = plan.shape.n;
  if (plan.accumulate == Accumulate::kDevice) {
    const std::int32_t* from = results.data();
    std::int32_t* column = sums.data();
    for (std::uint32_t tile = 0; tile < plan.n_tiles; ++tile) {
      const auto [first, end] = plan.lanes_of(tile);
      std::int32_t* to = column;
      for (std::uint64_t row = 0; row < m; ++row, from += plan.array, to += n) {
        std::copy(from + first, from + end, to);
      }
      column += end - first;
    }
    return sums;
  }
  sums.setZero();
  for (TileWalk walk(job); !walk.done(); walk.next()) {
    const TileStep& step = walk.tile();
    const std::uint64_t columns = columns_of(plan, step.tile.n);
    const std::uint64_t tile = step.result % plan.result_blocks();
    const std::int32_t* from = results.data() + (tile * m + step.first_row) * plan.array;
    for (std::uint64_t row = 0; row < step.rows; ++row, from += plan.array) {
      std::int32_t* to = sums.data() + (step.first_row + row) * n + step.tile.n * plan.array;
      for (std::uint64_t column = 0; column < columns; ++column) {
        to[column] = add(to[column], from[column]);
      }
    }
  }
  return sums;
}

}  // namespace gemm64

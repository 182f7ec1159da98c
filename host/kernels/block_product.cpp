// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/block_product.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace gemm64 {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kChunk = 128;        // values that fill all lanes
constexpr std::size_t kColumnsAtOnce = 4;  // fewer, at the end, are folded in another order
using Lanes = std::array<float, kLanes>;

/// Which fours of a chunk's products a lane has.
struct Fours {
  std::array<std::size_t, kLanes> first, second;
};

/// Lanes of blocks of `size`, as instructions that interleave two registers leave them.
constexpr Fours fours_of(std::size_t size) {
  Fours fours{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::size_t quarter = lane / 4 * 4, place = lane % 4;
    if (size < 64) {  // the pairs of both registers by turns
      fours.first[lane] = place / 2 * kLanes + quarter + place % 2;
      fours.second[lane] = fours.first[lane] + 2;
    } else if (size == 64) {  // single values by turns
      fours.first[lane] = place % 2 * kLanes + quarter + place / 2;
      fours.second[lane] = fours.first[lane] + 2;
    } else {
      fours.first[lane] = lane;
      fours.second[lane] = kLanes + lane;
    }
  }
  return fours;
}

/// Sums of `width` products each.
template <std::size_t Count, std::size_t Width>
std::array<std::int32_t, Count> parts(const std::int8_t* row, const std::uint8_t* column) {
  std::array<std::int32_t, Count> sums{};
  for (std::size_t i = 0; i < Count; ++i) {
    for (std::size_t j = 0; j < Width; ++j) sums[i] += row[i * Width + j] * column[i * Width + j];
  }
  return sums;
}

/// sums[i] += parts[i] * step.
template <std::size_t Count, class Sums>
void add(const std::array<std::int32_t, Count>& parts, float step, Sums& sums) {
  for (std::size_t i = 0; i < Count; ++i) {
    sums[i] = std::fma(static_cast<float>(parts[i]), step, sums[i]);
  }
}

std::array<float, 8> halves(const Lanes& lanes) {
  std::array<float, 8> sums{};
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = lanes[i] + lanes[i + 8];
  return sums;
}

/// The sum of eight lanes, of a column by itself.
float sum(const std::array<float, 8>& x) {
  const auto both = [&](std::size_t i) { return x[i] + x[i + 4]; };
  return (both(0) + both(2)) + (both(1) + both(3));
}

/// Four lanes in order, as where those of four columns are added side by side.
template <class Sums>
float in_order(const Sums& x, std::size_t first) {
  return ((x[first] + x[first + 1]) + x[first + 2]) + x[first + 3];
}

/// A row and a column, without zero points.
class Product {
 public:
  Product(const std::int8_t* row, const float* row_steps, const BlockColumn& column,
          std::size_t size)
      : row_(row), row_steps_(row_steps), column_(column), size_(size) {}

  /// `four`: is the column one of four side by side? `last`: is the row one that has none beside
  /// it?
  float value(bool four, bool last) {
    const std::size_t end = column_.values.size();
    const Fours fours = fours_of(size_);
    std::size_t at = 0;
    for (; at + kChunk <= end; at += kChunk) add_chunk(at, fours);
    if (size_ >= 64) {
      if (at < end) add(parts<kLanes, 4>(row_ + at, values(at)), step(at), lanes_);
      if (!four || !last) return sum(halves(lanes_));
      return (in_order(lanes_, 0) + in_order(lanes_, 8)) +
             (in_order(lanes_, 4) + in_order(lanes_, 12));
    }
    std::array<float, 8> sums = halves(lanes_);
    for (; at < end; at += size_) {
      if (size_ == 32) {
        add(parts<8, 4>(row_ + at, values(at)), step(at), sums);
      } else {
        add(parts<8, 2>(row_ + at, values(at)), step(at), sums);
      }
    }
    return four ? in_order(sums, 0) + in_order(sums, 4) : sum(sums);
  }

 private:
  const std::uint8_t* values(std::size_t at) const { return column_.values.data() + at; }
  float step(std::size_t at) const { return row_steps_[at / size_] * column_.steps[at / size_]; }

  void add_chunk(std::size_t at, const Fours& fours) {
    const auto sums = parts<2 * kLanes, 4>(row_ + at, values(at));
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t first = fours.first[lane];
      lanes_[lane] = std::fma(static_cast<float>(sums[first] + sums[fours.second[lane]]),
                              step(at + 4 * first), lanes_[lane]);
    }
  }

  const std::int8_t* row_;
  const float* row_steps_;
  const BlockColumn& column_;
  std::size_t size_;
  Lanes lanes_{};
};

}  // namespace

void multiply_blocks(const BlockRows& rows, const BlockColumn& column, std::int64_t size,
                     std::int64_t number, std::int64_t columns, const float* bias, float* to) {
  const auto length = static_cast<std::size_t>(size);
  const std::size_t blocks = column.steps.size();
  const auto fours = static_cast<std::int64_t>(kColumnsAtOnce);
  const bool four = number < columns / fours * fours;
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::size_t first = static_cast<std::size_t>(row) * blocks;
    const std::int8_t* values = rows.values.data() + first * length;
    const float* steps = rows.steps.data() + first;
    const bool last = rows.count % 2 != 0 && row == rows.count - 1;
    float result = Product(values, steps, column, length).value(four, last);
    if (bias != nullptr) result += *bias;
    float zeros = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < length; ++i) sum += values[block * length + i];
      const float of_row = steps[block] * static_cast<float>(sum);
      const float of_column = -column.steps[block] * static_cast<float>(column.zeros[block]);
      zeros = std::fma(of_row, of_column, zeros);
    }
    to[row * columns] = result + zeros;
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/float_product.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "host/kernels/host_threads.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kPanel = 2 * kLanes;  // columns that are computed at once
constexpr std::int64_t kRows = 6;            // and rows

/// How many terms one chain of fused operations takes.
std::int64_t block_of(const FloatProduct& p) {
  if (p.chain != 0) return p.chain;
  if (p.weights) return 256;
  std::int64_t columns = 128;
  std::int64_t block = 128;
  if (p.n >= p.k) {
    while (block / 2 >= p.k) block /= 2;
  } else if (!p.a.transposed) {
    for (; columns > 16 && columns / 2 >= p.n; columns /= 2) block *= 2;
  }
  return block;
}

/// Part of a panel of C: what is added to it, and where.
struct Tile {
  std::int64_t depth;       ///< of the block
  std::int64_t row, count;  ///< rows of C
  std::int64_t column, width;
  bool first;  ///< of the blocks
};

/// A register's values, or several registers'; GCC and clang know such types for every processor.
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

inline void load(const float* from, Lanes& lanes) { std::memcpy(&lanes, from, sizeof lanes); }

inline void add_product(float factor, const Lanes& b, Lanes& sum) {
  for (std::int64_t i = 0; i < kLanes; ++i) sum[i] = std::fma(factor, b[i], sum[i]);
}

/// `panel` holds `depth` rows of kPanel values of B, `stride` apart. Sums are named by constants
/// alone, so that they stay in registers.
template <std::size_t... Row>
void add_tile(std::index_sequence<Row...> rows, const FloatProduct& p, const Tile& tile,
              const float* a, const float* panel, std::int64_t stride, float* c) {
  Lanes left[rows.size()] = {}, right[rows.size()] = {};
  const std::int64_t down = p.a.transposed ? 1 : p.a.stride;
  const std::int64_t along = p.a.transposed ? p.a.stride : 1;
  for (std::int64_t k = 0; k < tile.depth; ++k) {
    Lanes b_left, b_right;
    load(panel + k * stride, b_left);
    load(panel + k * stride + kLanes, b_right);
    const float* const at = a + k * along;
    ((add_product(at[static_cast<std::int64_t>(Row) * down], b_left, left[Row]),
      add_product(at[static_cast<std::int64_t>(Row) * down], b_right, right[Row])),
     ...);
  }
  float sums[rows.size()][kPanel];
  ((std::memcpy(sums[Row], &left[Row], sizeof(Lanes)),
    std::memcpy(sums[Row] + kLanes, &right[Row], sizeof(Lanes))),
   ...);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    float* const to = c + (tile.row + static_cast<std::int64_t>(row)) * p.n + tile.column;
    for (std::int64_t j = 0; j < tile.width; ++j) {
      const float sum = sums[row][j];
      to[j] = tile.first && p.beta == 0 ? sum * p.alpha : std::fma(sum, p.alpha, to[j]);
    }
  }
}

void add_rows(const FloatProduct& p, Tile tile, std::int64_t from, const float* panel,
              std::int64_t stride, float* c) {
  for (tile.row = 0; tile.row < p.m; tile.row += tile.count) {
    tile.count = std::min(kRows, p.m - tile.row);
    const float* const a = p.a.at(tile.row, from);
    switch (tile.count) {
      case 1:
        add_tile(std::make_index_sequence<1>(), p, tile, a, panel, stride, c);
        break;
      case 2:
        add_tile(std::make_index_sequence<2>(), p, tile, a, panel, stride, c);
        break;
      case 3:
        add_tile(std::make_index_sequence<3>(), p, tile, a, panel, stride, c);
        break;
      case 4:
        add_tile(std::make_index_sequence<4>(), p, tile, a, panel, stride, c);
        break;
      case 5:
        add_tile(std::make_index_sequence<5>(), p, tile, a, panel, stride, c);
        break;
      default:
        add_tile(std::make_index_sequence<kRows>(), p, tile, a, panel, stride, c);
    }
  }
}

/// The transpose of 4 x 4 values.
void transpose_four(const float* from, std::int64_t stride, float* to) {
  using Four = float __attribute__((vector_size(4 * sizeof(float))));
  Four in[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&in[i], from + i * stride, sizeof(Four));
  const Four a = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
  const Four b = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const Four d = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  const Four out[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * kPanel, &out[i], sizeof(Four));
}

void copy_panel(const FloatProduct& p, const Tile& tile, std::int64_t from, float* panel) {
  if (tile.width < kPanel) std::fill_n(panel, tile.depth * kPanel, 0.0F);
  if (p.b.transposed) {
    const std::int64_t in_fours = tile.width / 4 * 4, deep = tile.depth / 4 * 4;
    for (std::int64_t j = 0; j < in_fours; j += 4) {
      for (std::int64_t k = 0; k < deep; k += 4) {
        transpose_four(p.b.at(from + k, tile.column + j), p.b.stride, panel + k * kPanel + j);
      }
      for (std::int64_t k = deep; k < tile.depth; ++k) {
        for (std::int64_t i = j; i < j + 4; ++i) {
          panel[k * kPanel + i] = *p.b.at(from + k, tile.column + i);
        }
      }
    }
    for (std::int64_t j = in_fours; j < tile.width; ++j) {
      const float* const column = p.b.at(from, tile.column + j);
      for (std::int64_t k = 0; k < tile.depth; ++k) panel[k * kPanel + j] = column[k];
    }
  } else {
    for (std::int64_t k = 0; k < tile.depth; ++k) {
      std::copy_n(p.b.at(from + k, tile.column), tile.width, panel + k * kPanel);
    }
  }
}

void multiply_in_blocks(const FloatProduct& p, float* c) {
  const std::int64_t block = block_of(p);
  const std::int64_t panels = (p.n + kPanel - 1) / kPanel;
  on_host_threads(panels, p.m * p.n * p.k / 8, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> panel(static_cast<std::size_t>(std::min(block, p.k) * kPanel));
    for (std::int64_t i = first; i < last; ++i) {
      Tile tile{0, 0, 0, i * kPanel, std::min(kPanel, p.n - i * kPanel), true};
      if (p.beta != 0 && p.beta != 1) {
        for (std::int64_t row = 0; row < p.m; ++row) {
          for (std::int64_t j = 0; j < tile.width; ++j) c[row * p.n + tile.column + j] *= p.beta;
        }
      }
      // A copy pays where many rows read it.
      const bool copies = p.b.transposed || tile.width < kPanel || p.m > kRows;
      for (std::int64_t k = 0; k < p.k; k += block) {
        tile.depth = std::min(block, p.k - k);
        if (copies) copy_panel(p, tile, k, panel.data());
        add_rows(p, tile, k, copies ? panel.data() : p.b.at(k, tile.column),
                 copies ? kPanel : p.b.stride, c);
        tile.first = false;
      }
    }
  });
}

/// One row times a matrix: rows of it by fours, then two, then one.
void multiply_row(const float* a, const FloatFactor& b, std::int64_t k, std::int64_t n, bool adds,
                  float* c) {
  if (!adds) std::fill_n(c, n, 0.0F);
  std::int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const float *const b0 = b.at(i, 0), *const b1 = b0 + b.stride, *const b2 = b1 + b.stride,
                       *const b3 = b2 + b.stride;
    for (std::int64_t j = 0; j < n; ++j) {
      const float sum = a[i] * b0[j] + a[i + 1] * b1[j] + a[i + 2] * b2[j] + a[i + 3] * b3[j];
      c[j] = sum + c[j];
    }
  }
  if (k - i >= 2) {
    const float *const b0 = b.at(i, 0), *const b1 = b0 + b.stride;
    for (std::int64_t j = 0; j < n; ++j) {
      c[j] = a[i] * b0[j] + a[i + 1] * b1[j] + c[j];
    }
    i += 2;
  }
  if (i < k) {
    const float* const b0 = b.at(i, 0);
    for (std::int64_t j = 0; j < n; ++j) c[j] = a[i] * b0[j] + c[j];
  }
}

/// One row times a transposed matrix: a sum for each of its rows, in eight parts. How the parts are
/// added depends on whether four sums, two or one are computed at once.
void multiply_row_by_rows(const float* a, const float* b, std::int64_t stride, std::int64_t k,
                          std::int64_t n, bool adds, float* c) {
  for (std::int64_t j = 0; j < n; ++j) {
    const float* const row = b + j * stride;
    float s[8] = {};
    std::int64_t i = 0;
    for (; i + 8 <= k; i += 8) {
      for (int lane = 0; lane < 8; ++lane) s[lane] += a[i + lane] * row[i + lane];
    }
    for (int lane = 0; i + lane < k; ++lane) s[lane] += a[i + lane] * row[i + lane];
    const std::int64_t in_fours = n / 4 * 4;
    float sum;
    if (j < in_fours) {
      sum = (((s[0] + s[1]) + s[2]) + s[3]) + (((s[4] + s[5]) + s[6]) + s[7]);
    } else if (j < in_fours + (n & 2)) {
      sum = ((s[0] + s[2]) + (s[4] + s[6])) + ((s[1] + s[3]) + (s[5] + s[7]));
    } else {
      sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
    c[j] = adds ? sum + c[j] : sum + 0.0F;
  }
}

}  // namespace

void multiply(const FloatProduct& p, float* c) {
  const bool adds = p.beta != 0;
  const bool plain = !p.weights && p.alpha == 1 && (p.beta == 0 || p.beta == 1);
  if (plain && p.m == 1 && !p.a.transposed) {
    if (p.b.transposed) {
      multiply_row_by_rows(p.a.values, p.b.values, p.b.stride, p.k, p.n, adds, c);
    } else {
      multiply_row(p.a.values, p.b, p.k, p.n, adds, c);
    }
  } else if (plain && p.n == 1 && !p.b.transposed && p.b.stride == 1) {
    if (p.a.transposed) {
      multiply_row(p.b.values, {p.a.values, p.a.stride}, p.k, p.m, adds, c);
    } else {
      multiply_row_by_rows(p.b.values, p.a.values, p.a.stride, p.k, p.m, adds, c);
    }
  } else if (p.k == 0) {
    for (std::int64_t i = 0; i < p.m * p.n; ++i) c[i] = adds ? c[i] * p.beta : 0;
  } else {
    multiply_in_blocks(p, c);
  }
}

}  // namespace gemm64

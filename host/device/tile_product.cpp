// SPDX-License-Identifier: Apache-2.0
#include "host/device/tile_product.hpp"

#include <algorithm>
#include <array>

#ifdef __AVX512VNNI__
#include <immintrin.h>
#endif

namespace gemm64 {
namespace {

#ifdef __AVX512VNNI__

constexpr std::size_t kN = 64;      // columns, and bytes of a word
constexpr std::size_t kLanes = 16;  // columns of a register of sums
constexpr std::size_t kGroups = kN / kLanes;
constexpr std::size_t kFours = kN / 4;
constexpr std::size_t kRows = 6;  // 24 registers of sums; 8 are left for operands
constexpr std::size_t kMostTiles = 4;

/// Transposes 16 x 16 words of 32 bits: to[i][j] = from[j][i], and flips the top bit of each byte.
/// Words of `from` are 64 bytes.
void transpose(const std::uint8_t* from, std::uint8_t* to, std::size_t to_stride) {
  const __m512i top = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i a[16], b[16];
  for (int i = 0; i < 16; ++i)
    a[i] = _mm512_xor_si512(_mm512_loadu_si512(from + std::ptrdiff_t{64} * i), top);
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  // a[4 g + c] holds columns c, c + 4, c + 8, c + 12 of rows 4 g to 4 g + 3, a quarter each.
  for (int c = 0; c < 4; ++c) {
    const __m512i low = _mm512_shuffle_i32x4(a[c], a[4 + c], 0x88);   // columns c, c + 8
    const __m512i high = _mm512_shuffle_i32x4(a[c], a[4 + c], 0xdd);  // columns c + 4, c + 12
    const __m512i low2 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0x88);
    const __m512i high2 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0xdd);
    const __m512i columns[4] = {
        _mm512_shuffle_i32x4(low, low2, 0x88), _mm512_shuffle_i32x4(high, high2, 0x88),
        _mm512_shuffle_i32x4(low, low2, 0xdd), _mm512_shuffle_i32x4(high, high2, 0xdd)};
    for (int q = 0; q < 4; ++q) {
      _mm512_store_si512(to + static_cast<std::size_t>(c + 4 * q) * to_stride, columns[q]);
    }
  }
}

/// The lines of tiles to come, fetched a few at a time while others are multiplied.
class Ahead {
 public:
  Ahead(const TileOperands* tiles, std::size_t count) : tiles_(tiles), lines_(count * kN) {}

  void fetch(std::size_t lines) {
    for (const std::size_t end = std::min(done_ + lines, lines_); done_ < end; ++done_) {
      _mm_prefetch(tiles_[done_ / kN].weights + done_ % kN * kN, _MM_HINT_T1);
    }
  }

 private:
  const TileOperands* const tiles_;
  const std::size_t lines_;
  std::size_t done_ = 0;
};

/// kCount rows of activations of `count` tiles times all columns. The processor multiplies unsigned
/// by signed: `fours` holds w + 128 in place of w, and what that adds, 128 times the sum of a row's
/// activations, is taken away.
template <std::size_t kCount>
void multiply_rows(const std::uint8_t* const* words, std::size_t count, const std::uint8_t* fours,
                   bool add, std::uint32_t* sums) {
  const __m512i top = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i acc[kCount][kGroups];
  for (std::size_t r = 0; r < kCount; ++r) {
    __m512i row = _mm512_setzero_si512();
    for (std::size_t t = 0; t < count; ++t) {
      row = _mm512_dpbusd_epi32(row, top, _mm512_loadu_si512(words[t] + r * kN));
    }
    const __m512i start = _mm512_set1_epi32(-_mm512_reduce_add_epi32(row));
    for (std::size_t g = 0; g < kGroups; ++g) {
      acc[r][g] =
          add ? _mm512_add_epi32(start, _mm512_loadu_si512(sums + r * kN + g * kLanes)) : start;
    }
  }
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t k = 0; k < kFours; ++k, fours += 4 * kN) {
      __m512i columns[kGroups];
      for (std::size_t g = 0; g < kGroups; ++g) columns[g] = _mm512_load_si512(fours + g * 64);
      for (std::size_t r = 0; r < kCount; ++r) {
        std::int32_t four;
        __builtin_memcpy(&four, words[t] + r * kN + 4 * k, 4);
        const __m512i row = _mm512_set1_epi32(four);
        for (std::size_t g = 0; g < kGroups; ++g) {
          acc[r][g] = _mm512_dpbusd_epi32(acc[r][g], columns[g], row);
        }
      }
    }
  }
  for (std::size_t r = 0; r < kCount; ++r) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      _mm512_storeu_si512(sums + r * kN + g * kLanes, acc[r][g]);
    }
  }
}

/// The product of `count` tiles, whose weights lie in `fours`.
void multiply_fours(const TileOperands* tiles, std::size_t count, std::size_t rows, bool add,
                    const std::uint8_t* fours, Ahead ahead, std::uint32_t* sums) {
  constexpr std::array<decltype(&multiply_rows<1>), kRows + 1> kSome = {
      nullptr,          multiply_rows<1>, multiply_rows<2>, multiply_rows<3>,
      multiply_rows<4>, multiply_rows<5>, multiply_rows<6>};
  const std::size_t lines = count * kN * kRows / rows + 1;  // in each of the steps below
  for (std::size_t row = 0; row < rows;) {
    // No group of rows is left that is much smaller than the others.
    const std::size_t left = rows - row;
    const std::size_t some = left >= 2 * kRows ? kRows : left > kRows ? (left + 1) / 2 : left;
    const std::uint8_t* words[kMostTiles];
    for (std::size_t t = 0; t < count; ++t) words[t] = tiles[t].activations + row * kN;
    ahead.fetch(lines);
    kSome[some](words, count, fours, add, sums + row * kN);
    row += some;
  }
}

#endif

}  // namespace

void TileProduct::multiply(const TileOperands* tiles, std::size_t count, std::size_t rows, bool add,
                           std::uint32_t* sums) {
#ifdef __AVX512VNNI__
  static_assert(kTogether <= kMostTiles);
  if (n_ == kN) {
    for (std::size_t done = 0; done < count; done += kTogether, add = true) {
      const std::size_t some = std::min(kTogether, count - done);
      const std::size_t next = std::min(kTogether, count - done - some);
      for (std::size_t t = 0; t < some; ++t) {
        for (std::size_t g = 0; g < kGroups; ++g) {
          transpose(tiles[done + t].weights + g * kLanes * kN, fours_ + t * kN * kN + g * 64,
                    4 * kN);
        }
      }
      multiply_fours(tiles + done, some, rows, add, fours_, Ahead(tiles + done + some, next), sums);
    }
    return;
  }
#endif
  for (std::size_t t = 0; t < count; ++t, add = true) multiply_any(tiles[t], rows, add, sums);
}

void TileProduct::multiply_any(const TileOperands& operands, std::size_t rows, bool add,
                               std::uint32_t* sums) {
  for (std::size_t column = 0; column < n_; ++column) {
    for (std::size_t k = 0; k < n_; ++k) {
      weights_[k * n_ + column] = static_cast<std::int8_t>(operands.weights[column * n_ + k]);
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    // One tile's sums are below 2^20: only adding them to others can wrap.
    std::array<std::int32_t, kMax> tile{};
    for (std::size_t k = 0; k < n_; ++k) {
      const std::int32_t activation = static_cast<std::int8_t>(operands.activations[row * n_ + k]);
      const std::int32_t* const weights = weights_ + k * n_;
      for (std::size_t column = 0; column < n_; ++column) {
        tile[column] += activation * weights[column];
      }
    }
    std::uint32_t* const to = sums + row * n_;
    for (std::size_t column = 0; column < n_; ++column) {
      to[column] = (add ? to[column] : 0) + static_cast<std::uint32_t>(tile[column]);
    }
  }
}

}  // namespace gemm64

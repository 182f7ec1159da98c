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

/// Transposes 16 x 16 words of 32 bits: to[i][j] = from[j][i]. Words of `from` are 64 bytes.
void transpose(const std::uint8_t* from, std::int8_t* to, std::size_t to_stride) {
  __m512i a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(from + i * 64);
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

/// kCount rows of activations, with the top bit of each value flipped, times all columns. The
/// processor multiplies unsigned by signed: a + 128 in place of a, and `offset` is what that adds.
template <std::size_t kCount>
void multiply_rows(const std::uint8_t* flipped, const std::int8_t* weights,
                   const std::int32_t* offset, bool add, std::uint32_t* sums) {
  __m512i acc[kCount][kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) {
    const __m512i start =
        _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_load_si512(offset + g * kLanes));
    for (std::size_t r = 0; r < kCount; ++r) {
      acc[r][g] =
          add ? _mm512_add_epi32(start, _mm512_loadu_si512(sums + r * kN + g * kLanes)) : start;
    }
  }
  for (std::size_t k = 0; k < kFours; ++k) {
    __m512i columns[kGroups];
    for (std::size_t g = 0; g < kGroups; ++g) {
      columns[g] = _mm512_load_si512(weights + k * 4 * kN + g * 64);
    }
    for (std::size_t r = 0; r < kCount; ++r) {
      std::int32_t four;
      __builtin_memcpy(&four, flipped + r * kN + 4 * k, 4);
      const __m512i row = _mm512_set1_epi32(four);
      for (std::size_t g = 0; g < kGroups; ++g) {
        acc[r][g] = _mm512_dpbusd_epi32(acc[r][g], row, columns[g]);
      }
    }
  }
  for (std::size_t r = 0; r < kCount; ++r) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      _mm512_storeu_si512(sums + r * kN + g * kLanes, acc[r][g]);
    }
  }
}

void set_fours(const std::uint8_t* words, std::int8_t* fours, std::int32_t* offset) {
  const __m512i ones = _mm512_set1_epi8(1);
  for (std::size_t g = 0; g < kGroups; ++g) {
    transpose(words + g * kLanes * kN, fours + g * 64, 4 * kN);
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t k = 0; k < kFours; ++k) {
      sum = _mm512_dpbusd_epi32(sum, ones, _mm512_load_si512(fours + k * 4 * kN + g * 64));
    }
    _mm512_store_si512(offset + g * kLanes, _mm512_slli_epi32(sum, 7));
  }
}

void multiply_fours(const std::uint8_t* words, std::size_t rows, bool add, const std::int8_t* fours,
                    const std::int32_t* offset, std::uint32_t* sums) {
  constexpr std::array<decltype(&multiply_rows<1>), kRows + 1> kSome = {
      nullptr,          multiply_rows<1>, multiply_rows<2>, multiply_rows<3>,
      multiply_rows<4>, multiply_rows<5>, multiply_rows<6>};
  alignas(64) std::uint8_t flipped[kRows * kN];
  const __m512i top = _mm512_set1_epi8(static_cast<char>(0x80));
  while (rows != 0) {
    // No group of rows is left that is much smaller than the others.
    const std::size_t count = rows >= 2 * kRows ? kRows : rows > kRows ? (rows + 1) / 2 : rows;
    for (std::size_t r = 0; r < count; ++r) {
      _mm512_store_si512(flipped + r * kN,
                         _mm512_xor_si512(_mm512_loadu_si512(words + r * kN), top));
    }
    kSome[count](flipped, fours, offset, add, sums);
    words += count * kN;
    sums += count * kN;
    rows -= count;
  }
}

#endif

}  // namespace

void TileProduct::set_weights(const std::uint8_t* words) {
#ifdef __AVX512VNNI__
  if (n_ == kN) {
    set_fours(words, fours_, offset_);
    return;
  }
#endif
  for (std::size_t column = 0; column < n_; ++column) {
    for (std::size_t k = 0; k < n_; ++k) {
      weights_[k * n_ + column] = static_cast<std::int8_t>(words[column * n_ + k]);
    }
  }
}

void TileProduct::multiply(const std::uint8_t* words, std::size_t rows, bool add,
                           std::uint32_t* sums) const {
#ifdef __AVX512VNNI__
  if (n_ == kN) {
    multiply_fours(words, rows, add, fours_, offset_, sums);
    return;
  }
#endif
  multiply_any(words, rows, add, sums);
}

void TileProduct::multiply_any(const std::uint8_t* words, std::size_t rows, bool add,
                               std::uint32_t* sums) const {
  for (std::size_t row = 0; row < rows; ++row) {
    // One tile's sums are below 2^20: only adding them to others can wrap.
    std::array<std::int32_t, kMax> tile{};
    for (std::size_t k = 0; k < n_; ++k) {
      const std::int32_t activation = static_cast<std::int8_t>(words[row * n_ + k]);
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

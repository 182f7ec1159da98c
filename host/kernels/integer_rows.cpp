// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/integer_rows.hpp"

#include <algorithm>
#include <array>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace gemm64 {
namespace {

// Sums of kStep products a step, in pairs; 32 bits wrap.
#if defined(__AVX512BW__)

struct Sum {
  static constexpr int kStep = 32;
  __m512i lanes = _mm512_setzero_si512();

  void add(const std::int16_t* a, const std::int16_t* b) {
    const __m512i left = _mm512_loadu_si512(a);
    const __m512i right = _mm512_loadu_si512(b);
#ifdef __AVX512VNNI__
    lanes = _mm512_dpwssd_epi32(lanes, left, right);
#else
    lanes = _mm512_add_epi32(lanes, _mm512_madd_epi16(left, right));
#endif
  }

  std::int32_t total() const { return _mm512_reduce_add_epi32(lanes); }
};

#elif defined(__SSE2__)

std::int32_t total_of(__m128i lanes) {
  const __m128i pairs = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32(pairs, 0xB1)));
}

#ifdef __AVX2__

struct Sum {
  static constexpr int kStep = 16;
  __m256i lanes = _mm256_setzero_si256();

  void add(const std::int16_t* a, const std::int16_t* b) {
    const auto load = [](const std::int16_t* from) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    };
    lanes = _mm256_add_epi32(lanes, _mm256_madd_epi16(load(a), load(b)));
  }

  std::int32_t total() const {
    return total_of(
        _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1)));
  }
};

#else

struct Sum {
  static constexpr int kStep = 8;
  __m128i lanes = _mm_setzero_si128();

  void add(const std::int16_t* a, const std::int16_t* b) {
    const auto load = [](const std::int16_t* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    lanes = _mm_add_epi32(lanes, _mm_madd_epi16(load(a), load(b)));
  }

  std::int32_t total() const { return total_of(lanes); }
};

#endif

#else

struct Sum {
  static constexpr int kStep = 8;
  std::uint32_t lanes = 0;

  void add(const std::int16_t* a, const std::int16_t* b) {
    for (int k = 0; k < kStep; ++k) lanes += static_cast<std::uint32_t>(std::int32_t{a[k]} * b[k]);
  }

  std::int32_t total() const { return static_cast<std::int32_t>(lanes); }
};

#endif

/// Sums of Rows rows of `a` with Columns rows of `b`, all at once, so that each value that is read
/// meets several.
template <int Rows, int Columns>
void multiply_block(const std::int16_t* a, const std::int16_t* b, std::int64_t stride,
                    std::int32_t* to, std::int64_t step) {
  std::array<std::array<Sum, Columns>, Rows> sums;
  for (std::int64_t k = 0; k < stride; k += Sum::kStep) {
    for (int i = 0; i < Rows; ++i) {
      for (int j = 0; j < Columns; ++j) {
        sums[i][j].add(a + i * stride + k, b + j * stride + k);
      }
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Columns; ++j) to[i * step + j] = sums[i][j].total();
  }
}

template <int Rows>
void multiply_some(const std::int16_t* a, const IntegerRows& b, std::int64_t b_rows,
                   std::int32_t* to, std::int64_t step) {
  std::int64_t j = 0;
  for (; j + 3 <= b_rows; j += 3) {
    multiply_block<Rows, 3>(a, b.row(j), b.stride(), to + j, step);
  }
  for (; j < b_rows; ++j) multiply_block<Rows, 1>(a, b.row(j), b.stride(), to + j, step);
}

}  // namespace

void multiply_rows(const IntegerRows& a, const IntegerRows& b, std::int64_t b_rows,
                   std::int32_t* to, std::int64_t step) {
  std::int64_t i = 0;
  for (; i + 4 <= a.rows(); i += 4) {
    multiply_some<4>(a.row(i), b, b_rows, to + i * step, step);
  }
  for (; i < a.rows(); ++i) multiply_some<1>(a.row(i), b, b_rows, to + i * step, step);
}

}  // namespace gemm64

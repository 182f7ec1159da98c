// SPDX-License-Identifier: Apache-2.0
// The products of one stage of the 64x64 array for all of its columns:
//   sum_o[c] = sum_i[c] + sum over r < 4 of activation[r * (kColumns + 1) + c] * byte r of
//   weight[c]
// modulo 2^32, with signed bytes, which is the loop `add` of gemm64_stage.v. fuse_columns.py calls
// it from Verilator's C++, because no compiler that was tried finds the processor's byte products
// in 64 separate statements. Variants: AVX-512 VNNI, AVX2, and plain C++. Without -march of the
// first, the processor is asked at run time. sum_i is null for the first stage, which adds to
// nothing. step() also moves the activations on by one column, the loop `shift`.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "sim/models/column_steps.hpp"

namespace gemm64::column_products {

constexpr int kColumns = 64;
constexpr int kRows = 4;
/// Distance of two rows of activations: a row keeps one more than the columns use.
constexpr int kRowStep = kColumns + 1;

/// One byte for each row of a stage.
struct Entering {
  std::uint8_t row[kRows];
};

inline void add_plain(std::uint32_t* sum_o, const std::uint32_t* sum_i,
                      const std::uint8_t* activation, const std::uint32_t* weight) {
  for (int c = 0; c < kColumns; ++c) {
    std::int32_t sum = 0;  // at most 4 * 2^14
    for (int r = 0; r < kRows; ++r) {
      sum += static_cast<std::int8_t>(activation[r * kRowStep + c]) *
             static_cast<std::int8_t>(weight[c] >> (8 * r));
    }
    sum_o[c] = (sum_i == nullptr ? 0 : sum_i[c]) + static_cast<std::uint32_t>(sum);
  }
}

#if defined(__x86_64__)

/// 16 columns per instruction. vpdpbusd multiplies unsigned by signed bytes, so activations are
/// moved up by 128 and 128 times the column's weights is subtracted.
/// kStep: the rows move on, since they are at hand. The last byte of a row feeds no column.
template <bool kStep, class Byte>
__attribute__((target("avx512f,avx512bw,avx512vnni"))) inline void vnni(std::uint32_t* sum_o,
                                                                        const std::uint32_t* sum_i,
                                                                        Byte* activation,
                                                                        const std::uint32_t* weight,
                                                                        const Entering& entering) {
  // Unpacking works within 128-bit lanes: in this order of 4-column groups its results are 16
  // consecutive columns.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i row[kRows];
  for (int r = 0; r < kRows; ++r) {
    const __m512i bytes = _mm512_loadu_si512(activation + r * kRowStep);
    if constexpr (kStep) {
      _mm512_storeu_si512(activation + r * kRowStep + 1, bytes);
      activation[r * kRowStep] = entering.row[r];
    }
    row[r] = _mm512_permutexvar_epi32(order, _mm512_xor_si512(bytes, offset));
  }
  const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(row[0], row[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(row[2], row[3]);
  const __m512i columns[4] = {
      _mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
      _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
  for (int i = 0; i < 4; ++i) {
    const __m512i weights = _mm512_loadu_si512(weight + 16 * i);
    const __m512i sums =
        sum_i == nullptr ? _mm512_setzero_si512() : _mm512_loadu_si512(sum_i + 16 * i);
    const __m512i excess = _mm512_dpbusd_epi32(_mm512_setzero_si512(), offset, weights);
    const __m512i found = _mm512_dpbusd_epi32(sums, columns[i], weights);
    _mm512_storeu_si512(sum_o + 16 * i, _mm512_sub_epi32(found, excess));
  }
}

__attribute__((target("avx512f,avx512bw,avx512vnni"))) inline void add_vnni(
    std::uint32_t* sum_o, const std::uint32_t* sum_i, const std::uint8_t* activation,
    const std::uint32_t* weight) {
  vnni<false>(sum_o, sum_i, activation, weight, {});
}

/// 8 columns per instruction, as products of signed 16-bit values that vpmaddwd adds in pairs.
__attribute__((target("avx2"))) inline void add_avx2(std::uint32_t* sum_o,
                                                     const std::uint32_t* sum_i,
                                                     const std::uint8_t* activation,
                                                     const std::uint32_t* weight) {
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);  // as above
  for (int half = 0; half < kColumns; half += 32) {
    __m256i row[kRows];
    for (int r = 0; r < kRows; ++r) {
      const auto* bytes = reinterpret_cast<const __m256i*>(activation + r * kRowStep + half);
      row[r] = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(bytes), order);
    }
    const __m256i low01 = _mm256_unpacklo_epi8(row[0], row[1]);
    const __m256i high01 = _mm256_unpackhi_epi8(row[0], row[1]);
    const __m256i low23 = _mm256_unpacklo_epi8(row[2], row[3]);
    const __m256i high23 = _mm256_unpackhi_epi8(row[2], row[3]);
    const __m256i columns[4] = {
        _mm256_unpacklo_epi16(low01, low23), _mm256_unpackhi_epi16(low01, low23),
        _mm256_unpacklo_epi16(high01, high23), _mm256_unpackhi_epi16(high01, high23)};
    for (int i = 0; i < 4; ++i) {
      const int at = half + 8 * i;
      const __m256i weights = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weight + at));
      const __m256i sums = sum_i == nullptr
                               ? _mm256_setzero_si256()
                               : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sum_i + at));
      const __m256i even = _mm256_madd_epi16(_mm256_srai_epi16(_mm256_slli_epi16(columns[i], 8), 8),
                                             _mm256_srai_epi16(_mm256_slli_epi16(weights, 8), 8));
      const __m256i odd =
          _mm256_madd_epi16(_mm256_srai_epi16(columns[i], 8), _mm256_srai_epi16(weights, 8));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum_o + at),
                          _mm256_add_epi32(sums, _mm256_add_epi32(even, odd)));
    }
  }
}

inline bool has_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vnni");
}

#endif

/// The fastest variant that this processor has.
inline void add(std::uint32_t* sum_o, const std::uint32_t* sum_i, const std::uint8_t* activation,
                const std::uint32_t* weight) {
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
  add_vnni(sum_o, sum_i, activation, weight);
#elif defined(__AVX2__)
  static const bool vnni = has_vnni();
  vnni ? add_vnni(sum_o, sum_i, activation, weight) : add_avx2(sum_o, sum_i, activation, weight);
#else
  add_plain(sum_o, sum_i, activation, weight);
#endif
}

/// add(), after which each row has moved on by one column and a byte of `entering` is in column 0.
inline void step(std::uint32_t* sum_o, const std::uint32_t* sum_i, std::uint8_t* activation,
                 const std::uint32_t* weight, const Entering& entering) {
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
  vnni<true>(sum_o, sum_i, activation, weight, entering);
#else
  add(sum_o, sum_i, activation, weight);
  for (int r = 0; r < kRows; ++r) {
    column_steps::shift(activation + r * kRowStep, kRowStep, entering.row[r]);
  }
#endif
}

}  // namespace gemm64::column_products

// SPDX-License-Identifier: Apache-2.0
// The 64x64 array as one step: the bottom sums that its 16 stages have after an edge,
//   sum[c] = sum over g < 16 of activations[g][c] * weights[g][c], both as they were 15 - g cycles
//   before,
// since each stage (gemm64_stage.v) adds four products of signed bytes to the sum above it, modulo
// 2^32, and passes it on in the next cycle. Sums inside are never stored. Activations move by one
// column per cycle: the step keeps the words that entered each stage, newest first, and begins to
// read them one word earlier in each cycle. Weights wait until the sums of their cycle leave the
// array. fuse_columns.py calls it from Verilator's C++ in place of the stages' statements.
// Variants: AVX-512 VNNI, AVX2, plain C++. Without -march of the first, the processor is asked at
// run time.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gemm64::column_array {

constexpr unsigned kColumns = 64;
constexpr unsigned kStages = 16;
constexpr unsigned kRows = 4;  // of a stage: the bytes of a word

/// Zeros are the array whose registers are zeros.
struct alignas(64) Array {
  static constexpr unsigned kWindow = kColumns + kStages;  // words that a later step reads
  static constexpr unsigned kRing = 256;

  std::uint32_t entered[kStages][kRing + kWindow];  // newest first, from `newest` on
  std::uint32_t weights[kStages][kColumns];         // those of the next step
  // Weights that wait: row (cycle - stage) % kStages, since all of a row are due in one cycle.
  std::uint32_t waiting[kStages][kStages];
  std::uint8_t column[kStages][kStages];  // 1 + the column of each, or 0
  std::uint32_t newest, cycle;
};

/// The word in column 0 of a stage, 15 - stage cycles before; column c's is c words after it.
inline const std::uint32_t* column_0(const std::uint32_t* entered, unsigned stage) {
  return entered + stage * (Array::kRing + Array::kWindow) + kStages - stage;
}

/// Computes the sums of all columns. entered: of stage 0, from the newest on.
inline void add_plain(std::uint32_t* sum, const std::uint32_t* entered,
                      const std::uint32_t* weights) {
  std::uint32_t sums[kColumns] = {};
  for (unsigned g = 0; g < kStages; ++g) {
    const std::uint32_t* activations = column_0(entered, g);
    for (unsigned c = 0; c < kColumns; ++c) {
      std::int32_t products = 0;  // at most 4 * 2^14
      for (unsigned r = 0; r < kRows; ++r) {
        products += static_cast<std::int8_t>(activations[c] >> (8 * r)) *
                    static_cast<std::int8_t>(weights[g * kColumns + c] >> (8 * r));
      }
      sums[c] += static_cast<std::uint32_t>(products);
    }
  }
  std::memcpy(sum, sums, sizeof(sums));
}

#if defined(__x86_64__)

/// 16 columns per instruction. vpdpbusd multiplies unsigned by signed bytes, so activations are
/// moved up by 128 and 128 times the column's weights is subtracted.
__attribute__((target("avx512f,avx512bw,avx512vnni"))) inline void add_vnni(
    std::uint32_t* sum, const std::uint32_t* entered, const std::uint32_t* weights) {
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i found[4] = {}, excess[4] = {};
#pragma GCC unroll 16
  for (unsigned g = 0; g < kStages; ++g) {
    const std::uint32_t* activations = column_0(entered, g);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; ++i) {
      const __m512i bytes = _mm512_xor_si512(_mm512_loadu_si512(activations + 16 * i), offset);
      const __m512i weight = _mm512_loadu_si512(weights + g * kColumns + 16 * i);
      found[i] = _mm512_dpbusd_epi32(found[i], bytes, weight);
      excess[i] = _mm512_dpbusd_epi32(excess[i], offset, weight);
    }
  }
  for (unsigned i = 0; i < 4; ++i) {
    _mm512_storeu_si512(sum + 16 * i, _mm512_sub_epi32(found[i], excess[i]));
  }
}

/// 8 columns per instruction, as products of signed 16-bit values that vpmaddwd adds in pairs.
__attribute__((target("avx2"))) inline void add_avx2(std::uint32_t* sum,
                                                     const std::uint32_t* entered,
                                                     const std::uint32_t* weights) {
  for (unsigned begin = 0; begin < kColumns; begin += 8) {
    __m256i found = _mm256_setzero_si256();
    for (unsigned g = 0; g < kStages; ++g) {
      const auto* activations = reinterpret_cast<const __m256i*>(column_0(entered, g) + begin);
      const __m256i bytes = _mm256_loadu_si256(activations);
      const __m256i weight =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + g * kColumns + begin));
      const __m256i even = _mm256_madd_epi16(_mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8),
                                             _mm256_srai_epi16(_mm256_slli_epi16(weight, 8), 8));
      const __m256i odd =
          _mm256_madd_epi16(_mm256_srai_epi16(bytes, 8), _mm256_srai_epi16(weight, 8));
      found = _mm256_add_epi32(found, _mm256_add_epi32(even, odd));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum + begin), found);
  }
}

inline bool has_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vnni");
}

#endif

/// The fastest variant that this processor has.
inline void add(std::uint32_t* sum, const std::uint32_t* entered, const std::uint32_t* weights) {
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
  add_vnni(sum, entered, weights);
#elif defined(__AVX2__)
  static const bool vnni = has_vnni();
  vnni ? add_vnni(sum, entered, weights) : add_avx2(sum, entered, weights);
#else
  add_plain(sum, entered, weights);
#endif
}

/// Begins an edge: computes the sums after it. Requires that enter(), for each stage, and load(),
/// for those that get weights, follow before the next.
inline void step(Array& array, std::uint32_t* sum) {
  if (array.newest == 0) {
    for (auto& words : array.entered) {
      std::memcpy(words + Array::kRing, words, Array::kWindow * sizeof(words[0]));
    }
    array.newest = Array::kRing;
  }
  --array.newest;
  ++array.cycle;
  add(sum, &array.entered[0][array.newest], array.weights[0]);
  const unsigned row = (array.cycle + 1) % kStages;
  for (unsigned g = 0; g + 1 < kStages; ++g) {
    if (array.column[row][g] != 0) {
      array.weights[g][array.column[row][g] - 1u] = array.waiting[row][g];
    }
  }
  std::memset(array.column[row], 0, kStages);
}

/// Byte r enters row r of the stage.
inline void enter(Array& array, unsigned stage, std::uint8_t byte_0, std::uint8_t byte_1,
                  std::uint8_t byte_2, std::uint8_t byte_3) {
  array.entered[stage][array.newest] = byte_0 | std::uint32_t{byte_1} << 8 |
                                       std::uint32_t{byte_2} << 16 | std::uint32_t{byte_3} << 24;
}

/// The stage's column gets new weights, byte r for row r.
inline void load(Array& array, unsigned stage, unsigned column, std::uint32_t weights) {
  if (stage == kStages - 1) {
    array.weights[stage][column] = weights;
    return;
  }
  const unsigned row = (array.cycle - stage) % kStages;
  array.waiting[row][stage] = weights;
  array.column[row][stage] = static_cast<std::uint8_t>(column + 1);
}

}  // namespace gemm64::column_array

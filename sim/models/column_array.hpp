// SPDX-License-Identifier: Apache-2.0
// The 64x64 array (gemm64_array.v) as one step: the bottom sums that it has after an edge,
//   sum[c] = sum over g < 16 of row[g][c] * weights[g][c],
// where row[g][c] is word g of the row that entered 16 + c cycles before, since each stage
// (gemm64_stage.v) gets its words a cycle after the stage above (gemm64_skew.v), adds four products
// of signed bytes to the sum above it, modulo 2^32, and passes it on in the next cycle. Sums inside
// and skewed words are never stored. The step keeps the rows, newest first, and begins to read them
// one earlier in each cycle. A column of weights waits until the sums of its cycle leave the array.
// Activations are stored as unsigned bytes, 128 more than their values, since vpdpbusd multiplies
// unsigned by signed bytes; 128 times a column's weights is subtracted.
// fuse_columns.py calls it from Verilator's C++ in place of the array's statements.
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

constexpr std::uint32_t kOffset = 0x80808080;  // 128 in each byte

using Words = std::uint32_t[kStages];

/// A column of weights in flight. Stages below `reach` get theirs.
struct Waiting {
  Words weights;
  std::uint8_t column, reach;
};

/// Zeros are the array whose registers are zeros.
struct alignas(64) Array {
  static constexpr unsigned kWindow = kColumns + kStages;  // rows that a later step reads
  static constexpr unsigned kRing = 256;

  std::uint32_t weights[kStages][kColumns];         // those of the next step
  std::uint32_t excess[kColumns];                   // 128 times the sum of a column's weights
  std::uint32_t entered[kStages][kRing + kWindow];  // newest first, from `newest` on
  Waiting waiting[kStages];                         // those of cycle c in place c % kStages
  std::uint32_t first;                              // word 0 of the row that enters
  std::uint32_t newest, cycle;
  bool begun;
};

/// The word of a stage in column 0; column c's is c words after it.
inline const std::uint32_t* column_0(const std::uint32_t* entered, unsigned stage) {
  return entered + stage * (Array::kRing + Array::kWindow) + kStages;
}

/// Computes the sums of all columns. entered: of stage 0, from the newest on.
inline void add_plain(std::uint32_t* sum, const std::uint32_t* entered,
                      const std::uint32_t* weights, const std::uint32_t* excess) {
  std::uint32_t sums[kColumns] = {};
  for (unsigned g = 0; g < kStages; ++g) {
    const std::uint32_t* activations = column_0(entered, g);
    for (unsigned c = 0; c < kColumns; ++c) {
      std::int32_t products = 0;  // at most 4 * 2^15
      for (unsigned r = 0; r < kRows; ++r) {
        products += static_cast<std::uint8_t>(activations[c] >> (8 * r)) *
                    static_cast<std::int8_t>(weights[g * kColumns + c] >> (8 * r));
      }
      sums[c] += static_cast<std::uint32_t>(products);
    }
  }
  for (unsigned c = 0; c < kColumns; ++c) sum[c] = sums[c] - excess[c];
}

#if defined(__x86_64__)

/// 16 columns per instruction.
__attribute__((target("avx512f,avx512bw,avx512vnni"))) inline void add_vnni(
    std::uint32_t* sum, const std::uint32_t* entered, const std::uint32_t* weights,
    const std::uint32_t* excess) {
  __m512i found[4] = {};
#pragma GCC unroll 16
  for (unsigned g = 0; g < kStages; ++g) {
    const std::uint32_t* activations = column_0(entered, g);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; ++i) {
      found[i] = _mm512_dpbusd_epi32(found[i], _mm512_loadu_si512(activations + 16 * i),
                                     _mm512_loadu_si512(weights + g * kColumns + 16 * i));
    }
  }
  for (unsigned i = 0; i < 4; ++i) {
    _mm512_storeu_si512(sum + 16 * i,
                        _mm512_sub_epi32(found[i], _mm512_loadu_si512(excess + 16 * i)));
  }
}

/// 8 columns per instruction, as products of 16-bit values that vpmaddwd adds in pairs.
__attribute__((target("avx2"))) inline void add_avx2(std::uint32_t* sum,
                                                     const std::uint32_t* entered,
                                                     const std::uint32_t* weights,
                                                     const std::uint32_t* excess) {
  const auto at = [](const std::uint32_t* words) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
  };
  const __m256i low = _mm256_set1_epi16(0xff);
  for (unsigned begin = 0; begin < kColumns; begin += 8) {
    __m256i found = _mm256_setzero_si256();
    for (unsigned g = 0; g < kStages; ++g) {
      const __m256i bytes = at(column_0(entered, g) + begin);
      const __m256i weight = at(weights + g * kColumns + begin);
      const __m256i even = _mm256_madd_epi16(_mm256_and_si256(bytes, low),
                                             _mm256_srai_epi16(_mm256_slli_epi16(weight, 8), 8));
      const __m256i odd =
          _mm256_madd_epi16(_mm256_srli_epi16(bytes, 8), _mm256_srai_epi16(weight, 8));
      found = _mm256_add_epi32(found, _mm256_add_epi32(even, odd));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum + begin),
                        _mm256_sub_epi32(found, at(excess + begin)));
  }
}

inline bool has_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vnni");
}

#endif

/// The fastest variant that this processor has.
inline void add(std::uint32_t* sum, const std::uint32_t* entered, const std::uint32_t* weights,
                const std::uint32_t* excess) {
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
  add_vnni(sum, entered, weights, excess);
#elif defined(__AVX2__)
  static const bool vnni = has_vnni();
  vnni ? add_vnni(sum, entered, weights, excess) : add_avx2(sum, entered, weights, excess);
#else
  add_plain(sum, entered, weights, excess);
#endif
}

/// 128 times the sum of the bytes of a column's weights.
inline std::uint32_t excess_of(const Words& weights) {
  std::int8_t bytes[sizeof(Words)];
  std::memcpy(bytes, weights, sizeof(bytes));
  std::int32_t sum = 0;
  for (const std::int8_t byte : bytes) sum += byte;
  return 128u * static_cast<std::uint32_t>(sum);
}

/// The stages below `reach` get the weights of their column.
inline void replace_column(Array& array, Waiting& due) {
  for (unsigned g = due.reach; g < kStages; ++g) due.weights[g] = array.weights[g][due.column];
  for (unsigned g = 0; g < kStages; ++g) array.weights[g][due.column] = due.weights[g];
  array.excess[due.column] = excess_of(due.weights);
  due.reach = 0;
}

/// Begins an edge: computes the sums after it. Requires that enter() follows before the next, and
/// load() and reset() where they are due.
inline void step(Array& array, std::uint32_t* sum) {
  if (array.newest == 0) {
    for (auto& words : array.entered) {
      if (!array.begun) {
        for (auto& word : words) word = kOffset;
      }
      std::memcpy(words + Array::kRing, words, Array::kWindow * sizeof(words[0]));
    }
    array.newest = Array::kRing;
    array.begun = true;
  }
  --array.newest;
  ++array.cycle;
  add(sum, &array.entered[0][array.newest], array.weights[0], array.excess);
  Waiting& due = array.waiting[(array.cycle + 1) % kStages];
  if (due.reach != 0) replace_column(array, due);
}

/// A row of activations enters, its first word by enter_first() before the others.
inline void enter_first(Array& array, std::uint32_t word) { array.first = word; }
inline void enter(Array& array, const std::uint32_t (&others)[kStages - 1]) {
  array.entered[0][array.newest] = array.first ^ kOffset;
  for (unsigned g = 1; g < kStages; ++g) {
    array.entered[g][array.newest] = others[g - 1] ^ kOffset;
  }
}

/// A column gets new weights, a word for each stage.
inline void load(Array& array, unsigned column, const Words& weights) {
  Waiting& waiting = array.waiting[array.cycle % kStages];
  std::memcpy(waiting.weights, weights, sizeof(weights));
  waiting.column = static_cast<std::uint8_t>(column);
  waiting.reach = kStages;
}

/// Weights that have not reached their stages never do.
inline void reset(Array& array) {
  for (unsigned age = 0; age < kStages; ++age) {
    Waiting& waiting = array.waiting[(array.cycle - age) % kStages];
    if (waiting.reach > age + 1) waiting.reach = static_cast<std::uint8_t>(age + 1);
  }
}

}  // namespace gemm64::column_array

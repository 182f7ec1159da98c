// SPDX-License-Identifier: Apache-2.0
#include "host/execute/integer_rows.hpp"

#include <algorithm>
#include <array>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gemm64 {
namespace {

#ifdef __SSE2__

/// Eight products a step, in pairs.
struct Sum {
  __m128i lanes = _mm_setzero_si128();

  void add(const std::int16_t* a, const std::int16_t* b) {
    const auto load = [](const std::int16_t* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    lanes = _mm_add_epi32(lanes, _mm_madd_epi16(load(a), load(b)));
  }

  std::int32_t total() const {
    const __m128i pairs = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32(pairs, 0xB1)));
  }
};

#else

struct Sum {
  std::uint32_t lanes = 0;  // wraps

  void add(const std::int16_t* a, const std::int16_t* b) {
    for (int k = 0; k < 8; ++k) lanes += static_cast<std::uint32_t>(std::int32_t{a[k]} * b[k]);
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
  for (std::int64_t k = 0; k < stride; k += 8) {
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

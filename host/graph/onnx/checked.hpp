// SPDX-License-Identifier: Apache-2.0
// Sums and products of counts that a hostile file could make overflow.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace gemm64 {

/// a + b, or std::overflow_error where 63 bits do not hold it: counts stay exact as signed numbers
/// too, and as JSON.
inline std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw std::overflow_error("a sum beyond 2^63");
  return static_cast<std::uint64_t>(sum);
}

/// a * b, or std::overflow_error where 63 bits do not hold it.
inline std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw std::overflow_error("a product beyond 2^63");
  return static_cast<std::uint64_t>(product);
}

}  // namespace gemm64

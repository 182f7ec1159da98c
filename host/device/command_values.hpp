// SPDX-License-Identifier: Apache-2.0
// Values of a command's fields in the arithmetic of its rules.
#pragma once

#include <cmath>
#include <cstdint>

#include "host/device/registers.hpp"
#include "host/util/float_bits.hpp"

namespace gemm64 {

constexpr bool at_least(std::int64_t left, std::int64_t right) { return left >= right; }
constexpr bool at_most(std::int64_t left, std::int64_t right) { return left <= right; }
constexpr bool below(std::int64_t left, std::int64_t right) { return left < right; }
constexpr bool equals(std::int64_t left, std::int64_t right) { return left == right; }

constexpr std::int64_t wide(std::uint32_t value) { return value; }

/// A field of `width` bits in two's complement.
constexpr std::int64_t signed_value(std::uint32_t value, unsigned width) {
  const std::int64_t sign = std::int64_t{1} << (width - 1);
  return (std::int64_t{value} ^ sign) - sign;
}

constexpr std::int64_t has(const Command& command, std::uint32_t flag) {
  return (command.flags & flag) != 0 ? 1 : 0;
}

/// Is the float32 of these bits a multiple of 2^exponent?
inline bool is_multiple(std::int64_t bits, int exponent) {
  const double steps = std::ldexp(double{from_bits(static_cast<std::uint32_t>(bits))}, -exponent);
  return steps == std::floor(steps);
}

}  // namespace gemm64

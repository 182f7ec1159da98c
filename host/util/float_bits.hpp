// SPDX-License-Identifier: Apache-2.0
// float32 values as the bits that hardware and files have of them.
#pragma once

#include <cstdint>
#include <cstring>

namespace gemm64 {

inline float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace gemm64

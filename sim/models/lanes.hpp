// SPDX-License-Identifier: Apache-2.0
// Loops over lanes, which roll_lanes.py writes in place of a statement for each lane.
#pragma once

#include <cstddef>
#include <cstdint>

/// A loop whose iterations have no value in common, so that the compiler vectorizes it unchecked.
#if defined(__clang__)
#define GEMM64_LANES _Pragma("clang loop vectorize(assume_safety)") for
#elif defined(__GNUC__)
#define GEMM64_LANES _Pragma("GCC ivdep") for
#else
#define GEMM64_LANES for
#endif

namespace gemm64 {

/// The bytes of a wide word, or of an array of them: Verilator has the lowest bits first.
template <class Words>
std::uint8_t* bytes_of(Words& words) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  return reinterpret_cast<std::uint8_t*>(&words);
}

}  // namespace gemm64

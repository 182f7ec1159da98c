// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gemm64 {

/// ⌈a / b⌉: how many parts of b cover a.
constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace gemm64

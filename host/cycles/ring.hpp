// SPDX-License-Identifier: Apache-2.0
// Where the commands of a ring are in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/device/registers.hpp"

namespace gemm64 {

/// A ring from `base` on, and the place of the first command of those that are predicted. Which
/// rows of a DRAM the commands are fetched from depends on it.
struct Ring {
  std::uint64_t base = 0;
  std::uint64_t mask = ~std::uint64_t{0};  // places - 1
  std::uint64_t first = 0;

  std::uint64_t address(std::size_t command) const {
    return base + ((first + command) & mask) * kCommandBytes;
  }
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What the loops over columns keep from cycle to cycle, in the memory that gemm64_ahead.v has for
// them.
#pragma once

#include "sim/models/column_array.hpp"
#include "sim/models/column_steps.hpp"

namespace gemm64 {

/// Zeros are what all registers start with.
struct Columns {
  column_array::Array array;
  column_steps::Sums banks[2];
};

/// Where a model's memory has its columns: at the first address that they can be at.
template <class Memory>
Columns& columns_in(Memory& memory) {
  static_assert(sizeof(Memory) >= sizeof(Columns) + alignof(Columns));
  const auto at = reinterpret_cast<std::uintptr_t>(&memory) + alignof(Columns) - 1;
  return *reinterpret_cast<Columns*>(at / alignof(Columns) * alignof(Columns));
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The accelerator that the RTL makes of an array's size.
#pragma once

#include <algorithm>

#include "host/device/geometry.hpp"

namespace gemm64 {

/// What rtl/gemm64.v makes of N = `n` where no other parameter is given.
inline Geometry geometry_of_array(int n) {
  constexpr std::uint32_t kWeightWords = 1024;
  Geometry geometry;
  geometry.n = static_cast<std::uint32_t>(n);
  geometry.stage_rows = std::min(geometry.stage_rows, geometry.n);
  geometry.weight_tiles = kWeightWords / geometry.n;
  return geometry;
}

}  // namespace gemm64

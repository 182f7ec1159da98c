// SPDX-License-Identifier: Apache-2.0
// Seconds of wall time.
#pragma once

#include <chrono>

namespace gemm64 {

using WallClock = std::chrono::steady_clock;

inline double seconds_since(WallClock::time_point begin) {
  return std::chrono::duration<double>(WallClock::now() - begin).count();
}

}  // namespace gemm64

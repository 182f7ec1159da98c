// SPDX-License-Identifier: Apache-2.0
// Time in waveforms: a cycle is a second. Viewers have no larger unit, so that their axis counts
// cycles; a nanosecond would become a microsecond at cycle 1,000.
#pragma once

#include <cstdint>

namespace gemm64 {

inline constexpr const char* kTimeResolution = "1ms";
inline constexpr std::uint64_t kTimeOfCycle = 1000;
inline constexpr std::uint64_t kTimeOfEdge = kTimeOfCycle / 2;  // the clock's rising edge

}  // namespace gemm64

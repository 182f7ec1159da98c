// SPDX-License-Identifier: Apache-2.0
// What the accelerator's counters say.
#pragma once

#include <array>
#include <cstdint>

#include "host/device/registers.hpp"

namespace gemm64 {

/// One value for each of the device's counters, indexed by gemm64::counter.
using Counters = std::array<std::uint64_t, kCounters.size()>;

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Cycles of the recurrence: numbers that are only ever added to and compared.
#pragma once

#include <cstdint>

namespace gemm64::cycles {

/// Cycles count from 0, the first in which the device is busy.
using Cycle = std::int64_t;

/// Before the first cycle: no constraint.
inline constexpr Cycle kNever = -1;

/// Later than any cycle: what the event waits for is not known yet. The maximum of what an event
/// waits for is unknown where any of it is.
inline constexpr Cycle kUnknown = Cycle{1} << 62;

constexpr bool known(Cycle clock) { return clock < kUnknown; }

}  // namespace gemm64::cycles

// SPDX-License-Identifier: Apache-2.0
// Clocks of the recurrence: numbers that are only ever added to and compared.
#pragma once

#include <cstdint>

namespace gemm64::cycles {

/// Clocks count from 0, the first in which the device is busy.
using Clock = std::int64_t;

/// Before the first clock: no constraint.
inline constexpr Clock kNever = -1;

/// Later than any clock: what the event waits for is not known yet. The maximum of what an event
/// waits for is unknown where any of it is.
inline constexpr Clock kUnknown = Clock{1} << 62;

constexpr bool known(Clock clock) { return clock < kUnknown; }

}  // namespace gemm64::cycles

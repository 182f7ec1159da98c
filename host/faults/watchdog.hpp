// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gemm64 {

/// The watchdog of all campaigns, in cycles: longer than any wait without a fault, as of stalls and
/// of requests after those of other ports. `latency`: the memory's.
constexpr std::uint32_t campaign_watchdog(std::uint32_t latency) { return 1000 + 32 * latency; }

}  // namespace gemm64

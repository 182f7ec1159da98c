// SPDX-License-Identifier: Apache-2.0
// How fast words come from memory, as far as a cut depends on it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/device/memory_timing.hpp"

namespace gemm64 {

/// The rate of a memory that reads and writes share, or of one for each port.
struct MemoryRate {
  double bytes_per_cycle = 0;  // 0: a port's width
  bool is_shared = false;      // by all ports

  /// Returns the cycles in which these bytes of weights, and these of all others, pass.
  double cycles(std::uint64_t weights, std::uint64_t others, std::uint32_t port_bytes) const {
    const double rate = bytes_per_cycle > 0 ? std::min<double>(bytes_per_cycle, port_bytes)
                                            : static_cast<double>(port_bytes);
    const auto w = static_cast<double>(weights), o = static_cast<double>(others);
    return (is_shared ? w + o : std::max(w, o)) / rate;
  }

  friend bool operator==(const MemoryRate& a, const MemoryRate& b) {
    return a.bytes_per_cycle == b.bytes_per_cycle && a.is_shared == b.is_shared;
  }
};

/// Returns that of a memory; of a DRAM channel its peak.
inline MemoryRate rate_of(const MemoryTiming& memory) {
  if (memory.sharing == MemorySharing::kDram) return {memory.dram.peak_bytes_per_cycle(), true};
  return {static_cast<double>(memory.bytes_per_cycle),
          memory.sharing != MemorySharing::kIndependent};
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// How the accelerator's memory behaves, as far as cycles depend on it.
#pragma once

#include <cstdint>
#include <string>

#include "host/device/dram_timing.hpp"

namespace gemm64 {

/// How the three ports reach memory.
enum class MemorySharing {
  kIndependent,  // each port is served by itself
  kShared,       // one in-order memory with one budget of bytes per cycle serves all ports
  kExclusive,    // one port is served at a time, until all its answers are in
  kDram          // a DRAM channel serves all ports in order, by its rows and banks
};

inline const char* name(MemorySharing sharing) {
  switch (sharing) {
    case MemorySharing::kShared:
      return "shared";
    case MemorySharing::kExclusive:
      return "exclusive";
    case MemorySharing::kDram:
      return "dram";
    default:
      return "independent";
  }
}

struct MemoryTiming {
  std::uint32_t latency = 100;        // cycles from a request to its answer
  std::uint32_t bytes_per_cycle = 0;  // of each port (of all where shared); 0: a port's width
  double stall_probability = 0;       // that a channel stalls in a cycle
  MemorySharing sharing = MemorySharing::kIndependent;
  bool is_modelled = true;  // false: a board's own, which does not behave as this says
  DramTiming dram = {};     // where the ports share a DRAM channel

  /// The word that asks for it: "shared", "dram:lpddr4".
  std::string word() const {
    return sharing == MemorySharing::kDram ? dram.word() : std::string(name(sharing));
  }

  /// Are the cycles of a program predicted exactly? Otherwise predictions are those of the same
  /// memory without stalls.
  bool predictable() const { return is_modelled && stall_probability == 0; }
};

/// Sets how the ports reach memory: "independent", "shared", "exclusive", or a word of
/// dram_timing(), which is read as that does. Returns whether there is such a word.
bool set_memory(MemoryTiming& memory, const std::string& word);

/// Throws UsageError for a DRAM channel that cannot work, or has a limit of bytes besides its pins.
void check(const MemoryTiming& memory);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// How many cycles this process has simulated, for displays of speed.
#pragma once

#include <atomic>
#include <cstdint>

namespace gemm64 {

/// Returns the count, to which every runner adds, on whatever thread.
inline std::atomic<std::uint64_t>& simulated_cycles() {
  static std::atomic<std::uint64_t> cycles{0};
  return cycles;
}

/// Adds the cycles of a device while it works.
class CountedCycles {
 public:
  /// `now`: the device's cycles.
  explicit CountedCycles(std::uint64_t now) : seen_(now) {}
  void note(std::uint64_t now) {
    if (now > seen_) simulated_cycles() += now - seen_;
    seen_ = now;
  }

 private:
  std::uint64_t seen_;
};

}  // namespace gemm64

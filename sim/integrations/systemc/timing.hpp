// SPDX-License-Identifier: Apache-2.0
// The memory's timing between the options of a module and those of a device.
#pragma once

#include "gemm64/accelerator.hpp"
#include "host/device/memory_timing.hpp"

namespace gemm64::platform {

inline MemoryTiming timing(const AcceleratorOptions& options) {
  MemoryTiming timing;
  timing.bytes_per_cycle = options.bytes_per_cycle;
  timing.stall_probability = options.stall_probability;
  timing.sharing = static_cast<MemorySharing>(options.sharing);
  return timing;
}

}  // namespace gemm64::platform

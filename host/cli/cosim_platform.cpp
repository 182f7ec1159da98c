// SPDX-License-Identifier: Apache-2.0
// The sides of `cosim` that need the SystemC platform.
#include <fmt/format.h>

#include "host/check/cosim.hpp"
#include "host/cli/commands.hpp"
#include "sim/integrations/systemc/cosim_sides.hpp"
#include "sim/models/devices.hpp"

namespace gemm64 {

void add_platform_sides(const DeviceOptions& options, const CosimWork& work, Cosim& cosim) {
  const Elf elf = load_elf(firmware_file());
  PlatformOptions platform_options;
  platform_options.device = options;
  platform_options.memory_bytes = work.memory.size();
  for (const char* accelerator : {"tlm", "rtl"}) {
    platform_options.accelerator = accelerator;
    {
      Platform platform(platform_options);
      cosim.add(run_cosim(platform.device(), work, fmt::format("{}, platform", accelerator),
                          accelerator));
    }
    Platform platform(platform_options);
    cosim.add(run_cosim_firmware(platform, elf, work, fmt::format("{}, firmware", accelerator),
                                 accelerator));
  }
}

}  // namespace gemm64

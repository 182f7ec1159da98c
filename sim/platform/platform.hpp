// SPDX-License-Identifier: Apache-2.0
// The platform: bus, memory, interrupt controller, timer, UART, accelerator, and a processor where
// firmware is to run. For those who know nothing of SystemC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "host/device/registry.hpp"

namespace gemm64 {

class RtlDevice;

struct PlatformOptions {
  std::string accelerator = "rtl";  // or "tlm"
  DeviceOptions device;             // array, seed, and how the memory behaves
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
  std::uint64_t quantum = 1000;  // clocks that processor and accelerator may run ahead of time
};

/// One simulation. Several may exist, but only one thread may use any of them.
class Platform {
 public:
  /// Throws UsageError for an accelerator or sizes that cannot be.
  explicit Platform(const PlatformOptions& options);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  /// The accelerator behind the bus, driven from outside instead of by a processor: registers by
  /// transactions, and time passes as the driver waits. Its memory is the platform's. What breaks a
  /// rule of AXI throws std::logic_error, as on the RTL. Lives as long as the platform.
  Device& device();

  /// The RTL in the accelerator, to inject errors at its ports; nullptr where there is none.
  RtlDevice* rtl();

 private:
  friend class FirmwareRun;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gemm64

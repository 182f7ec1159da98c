// SPDX-License-Identifier: Apache-2.0
// The modules of the platform, wired.
#pragma once

#include <memory>
#include <string>

#include "gemm64/accelerator.hpp"
#include "sim/integrations/systemc/bus.hpp"
#include "sim/integrations/systemc/bus_device.hpp"
#include "sim/integrations/systemc/kernel.hpp"
#include "sim/integrations/systemc/peripherals.hpp"
#include "sim/integrations/systemc/platform.hpp"
#include "sim/integrations/systemc/processor.hpp"
#include "sim/integrations/systemc/ram.hpp"

namespace gemm64 {

struct Platform::Parts {
  explicit Parts(const PlatformOptions& options);
  ~Parts();

  const PlatformOptions options;
  platform::Kernel kernel;
  struct Modules;
  std::unique_ptr<Modules> modules;  // after the kernel, before which they go
};

struct Platform::Parts::Modules {
  Modules(const PlatformOptions& options, platform::Kernel& kernel);

  sc_core::sc_time period{1, sc_core::SC_NS};
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> accelerator_line{"accelerator_line"};
  sc_core::sc_signal<bool> external_line{"external_line"}, timer_line{"timer_line"};
  platform::Bus bus;
  platform::Ram memory;
  platform::Ram local;
  RtlDevice* rtl = nullptr;  // in the accelerator, where it is one
  std::unique_ptr<Accelerator> accelerator;
  platform::InterruptController interrupts;
  platform::Timer timer;
  platform::Uart uart;
  platform::Control control;
  platform::BusDevice host;
  platform::Processor processor;

  std::string printed;
  bool exited = false;
  std::uint32_t exit_code = 0;
  std::string stopped;  // why the processor does not go on
};

}  // namespace gemm64

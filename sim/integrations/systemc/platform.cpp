// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/platform.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "gemm64/rtl_accelerator.hpp"
#include "gemm64/tlm_accelerator.hpp"
#include "host/util/error.hpp"
#include "sim/integrations/systemc/parts.hpp"
#include "sim/models/rtl_device.hpp"

namespace gemm64 {
namespace {

AcceleratorOptions accelerator_options(const PlatformOptions& options) {
  AcceleratorOptions accelerator;
  accelerator.n = options.device.array;
  accelerator.quantum = options.lookahead;
  accelerator.seed = options.device.seed;
  const MemoryTiming& memory = options.device.memory;
  if (memory.sharing == MemorySharing::kDram) {
    throw UsageError(fmt::format(
        "memory '{}': the platform's memory is its RAM, on the bus; use independent, shared or "
        "exclusive",
        memory.word()));
  }
  if (memory.sharing == MemorySharing::kDram) {
    throw UsageError(fmt::format(
        "memory '{}': the platform's memory is its RAM, on the bus; use independent, shared or "
        "exclusive",
        memory.word()));
  }
  accelerator.bytes_per_cycle = memory.bytes_per_cycle;
  accelerator.sharing = static_cast<AcceleratorOptions::Sharing>(memory.sharing);
  accelerator.stall_probability = memory.stall_probability;
  accelerator.debug = options.debug;
  return accelerator;
}

std::unique_ptr<Accelerator> make_accelerator(const PlatformOptions& options, RtlDevice*& rtl) {
  if (options.accelerator == "tlm") {
    return std::make_unique<TlmAccelerator>("accelerator", accelerator_options(options));
  }
  if (options.accelerator != "rtl") {
    throw UsageError(fmt::format("a platform has no accelerator called '{}'; give rtl or tlm",
                                 options.accelerator));
  }
  auto accelerator = std::make_unique<RtlAccelerator>("accelerator", accelerator_options(options));
  rtl = &accelerator->device();
  rtl->set_latency(options.device.memory.latency);  // of errors that are injected at its ports
  return accelerator;
}

std::uint64_t checked(std::uint64_t bytes) {
  if (bytes != 0 && bytes % 4096 == 0 && bytes <= PLATFORM_MEMORY_MOST) return bytes;
  throw UsageError(
      fmt::format("a platform's memory of {} bytes; it must be a multiple of 4096, at "
                  "most {}",
                  bytes, PLATFORM_MEMORY_MOST));
}

std::vector<platform::Bus::Range> ranges(const PlatformOptions& options) {
  const std::uint64_t small = platform::Peripheral::kBytes;
  return {{"memory", PLATFORM_MEMORY, checked(options.memory_bytes)},
          {"local", PLATFORM_LOCAL, PLATFORM_LOCAL_BYTES},
          {"accelerator", PLATFORM_ACCELERATOR, small},
          {"interrupts", PLATFORM_INTERRUPTS, small},
          {"timer", PLATFORM_TIMER, small},
          {"uart", PLATFORM_UART, small},
          {"control", PLATFORM_CONTROL, small}};
}

}  // namespace

Platform::Parts::Modules::Modules(const PlatformOptions& options, platform::Kernel& kernel)
    : bus("bus", ranges(options)),
      memory("memory", options.memory_bytes, options.device.memory.latency * period),
      local("local", PLATFORM_LOCAL_BYTES, period),
      accelerator(make_accelerator(options, rtl)),
      interrupts("interrupts", period),
      timer("timer", period, period),
      uart("uart", period, [this](char byte) { printed += byte; }),
      control(
          "control", period,
          [this](std::uint32_t code) {
            exited = true;
            exit_code = code;
            processor.end();
            sc_core::sc_pause();
          },
          [this] { accelerator->hard_reset(); }),
      host("host", kernel, *accelerator, memory, period, options.accelerator),
      processor("processor", period, options.quantum,
                {{PLATFORM_MEMORY, options.memory_bytes},
                 {PLATFORM_LOCAL, PLATFORM_LOCAL_BYTES},
                 {PLATFORM_ACCELERATOR,
                  PLATFORM_CONTROL - PLATFORM_ACCELERATOR + platform::Peripheral::kBytes}},
                [this](const std::string& why) {
                  stopped = why;
                  sc_core::sc_pause();
                }) {
  bus.target("memory").bind(memory.socket);
  bus.target("local").bind(local.socket);
  bus.target("accelerator").bind(accelerator->registers);
  bus.target("interrupts").bind(interrupts.socket);
  bus.target("timer").bind(timer.socket);
  bus.target("uart").bind(uart.socket);
  bus.target("control").bind(control.socket);
  accelerator->memory.bind(bus.initiators);
  host.socket.bind(bus.initiators);
  accelerator->interrupt(accelerator_line);
  interrupts.accelerator(accelerator_line);
  interrupts.output(external_line);
  timer.output(timer_line);
  host.line(accelerator_line);
  processor.socket.bind(bus.initiators);
  processor.external(external_line);
  processor.timer(timer_line);
}

Platform::Parts::Parts(const PlatformOptions& the_options) : options(the_options) {
  platform::Kernel::Use use(kernel);
  modules = std::make_unique<Modules>(options, kernel);
}

Platform::Parts::~Parts() {
  platform::Kernel::Use use(kernel);
  modules.reset();
}

Platform::Platform(const PlatformOptions& options) : parts_(std::make_unique<Parts>(options)) {}

Platform::~Platform() = default;

Device& Platform::device() { return parts_->modules->host; }

RtlDevice* Platform::rtl() { return parts_->modules->rtl; }

void Platform::observe(Observer& observer) {
  auto* const rtl = dynamic_cast<RtlAccelerator*>(parts_->modules->accelerator.get());
  if (rtl == nullptr) throw std::logic_error("a platform without RTL has no cycles to show");
  rtl->observe(observer);
}

}  // namespace gemm64

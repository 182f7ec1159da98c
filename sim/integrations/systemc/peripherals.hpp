// SPDX-License-Identifier: Apache-2.0
// The platform's small devices.
#pragma once

#include <functional>
#include <utility>

#include "sim/integrations/systemc/map.h"
#include "sim/integrations/systemc/peripheral.hpp"

namespace gemm64::platform {

/// Lines of interrupts in, one out: high while a line is that is enabled. Lines are levels.
class InterruptController : public Peripheral {
 public:
  sc_core::sc_in<bool> accelerator;
  sc_core::sc_out<bool> output;

  InterruptController(sc_core::sc_module_name name, const sc_core::sc_time& latency);

 private:
  bool read(std::uint32_t offset, std::uint32_t& value, const sc_core::sc_time& delay) override;
  bool write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& delay) override;
  void drive();

  std::uint32_t enable_ = 0;
  sc_core::sc_event changed_;
};

/// Counts cycles; its interrupt is high from the cycle that COMPARE names on.
class Timer : public Peripheral {
 public:
  sc_core::sc_out<bool> output;

  Timer(sc_core::sc_module_name name, const sc_core::sc_time& latency,
        const sc_core::sc_time& period);

 private:
  bool read(std::uint32_t offset, std::uint32_t& value, const sc_core::sc_time& delay) override;
  bool write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& delay) override;
  void drive();

  const sc_core::sc_time period_;
  std::uint64_t compare_ = ~std::uint64_t{0};
  sc_core::sc_event changed_;
};

/// A byte written to it is printed.
class Uart : public Peripheral {
 public:
  using Print = std::function<void(char)>;
  Uart(sc_core::sc_module_name name, const sc_core::sc_time& latency, Print print)
      : Peripheral(name, latency), print_(std::move(print)) {}

 private:
  bool read(std::uint32_t offset, std::uint32_t& value, const sc_core::sc_time& delay) override;
  bool write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& delay) override;

  const Print print_;
};

/// Ends the simulation, and resets the accelerator.
class Control : public Peripheral {
 public:
  using Exit = std::function<void(std::uint32_t code)>;
  using Reset = std::function<void()>;
  Control(sc_core::sc_module_name name, const sc_core::sc_time& latency, Exit exit, Reset reset)
      : Peripheral(name, latency), exit_(std::move(exit)), reset_(std::move(reset)) {}

 private:
  bool read(std::uint32_t offset, std::uint32_t& value, const sc_core::sc_time& delay) override;
  bool write(std::uint32_t offset, std::uint32_t value, const sc_core::sc_time& delay) override;

  const Exit exit_;
  const Reset reset_;
};

}  // namespace gemm64::platform

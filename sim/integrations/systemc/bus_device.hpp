// SPDX-License-Identifier: Apache-2.0
// The accelerator on the bus as a Device, for a driver outside the simulation.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <string>
#include <systemc>

#include "gemm64/accelerator.hpp"
#include "host/device/device.hpp"
#include "sim/integrations/systemc/kernel.hpp"
#include "sim/integrations/systemc/ram.hpp"

namespace gemm64::platform {

/// An initiator that is no process: each call is a transaction, and runs the simulation to its end.
class BusDevice : public sc_core::sc_module, public Device {
 public:
  tlm_utils::simple_initiator_socket<BusDevice> socket;
  sc_core::sc_in<bool> line;

  BusDevice(sc_core::sc_module_name name, Kernel& kernel, Accelerator& accelerator, Ram& memory,
            const sc_core::sc_time& period, std::string device_name);

  std::uint32_t read_register(std::uint32_t offset) override;
  void write_register(std::uint32_t offset, std::uint32_t value) override;
  std::uint64_t memory_bytes() const override { return memory_.size(); }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override;
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override;
  bool wait_interrupt(std::uint64_t max_cycles) override;
  void reset() override;
  std::uint64_t cycles() const override { return accelerator_.clock(); }
  std::string name() const override { return device_name_; }

  /// Lets the simulation run, at most for `time`; what SystemC reports is thrown as
  /// std::logic_error.
  void run(const sc_core::sc_time& time);

 private:
  std::uint32_t access(bool write, std::uint32_t offset, std::uint32_t value);
  void check(std::uint64_t address, std::size_t bytes) const;
  void notice();

  Kernel& kernel_;
  Accelerator& accelerator_;
  Ram& memory_;
  const sc_core::sc_time period_;
  const std::string device_name_;
  bool started_ = false;
  bool attentive_ = false;
};

}  // namespace gemm64::platform

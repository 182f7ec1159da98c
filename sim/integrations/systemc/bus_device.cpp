// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/bus_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/util/error.hpp"
#include "sim/integrations/systemc/map.h"

namespace gemm64::platform {

BusDevice::BusDevice(sc_core::sc_module_name name, Kernel& kernel, Accelerator& accelerator,
                     Ram& memory, const sc_core::sc_time& period, std::string device_name)
    : sc_core::sc_module(name),
      socket("socket"),
      line("line"),
      kernel_(kernel),
      accelerator_(accelerator),
      memory_(memory),
      period_(period),
      device_name_(std::move(device_name)) {
  SC_HAS_PROCESS(BusDevice);
  SC_METHOD(notice);
  sensitive << line;
  dont_initialize();
}

void BusDevice::notice() {
  if (attentive_ && line.read()) sc_core::sc_pause();
}

void BusDevice::run(const sc_core::sc_time& time) {
  try {
    started_ = true;
    sc_core::sc_start(time);
  } catch (const sc_core::sc_report& report) {
    throw std::logic_error(report.get_msg());
  }
}

std::uint32_t BusDevice::access(bool write, std::uint32_t offset, std::uint32_t value) {
  Kernel::Use use(kernel_);
  if (!started_) run(sc_core::SC_ZERO_TIME);
  tlm::tlm_generic_payload transaction;
  transaction.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  transaction.set_address(std::uint64_t{PLATFORM_ACCELERATOR} + offset);
  transaction.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
  transaction.set_data_length(sizeof value);
  transaction.set_streaming_width(sizeof value);
  transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(transaction, delay);
  run(delay);
  if (!transaction.is_response_ok()) {
    throw DeviceError(fmt::format("{} the register at {:#05x}: the bus answered {}",
                                  write ? "write of" : "read of", offset,
                                  transaction.get_response_string()));
  }
  return value;
}

std::uint32_t BusDevice::read_register(std::uint32_t offset) { return access(false, offset, 0); }

void BusDevice::write_register(std::uint32_t offset, std::uint32_t value) {
  access(true, offset, value);
}

void BusDevice::check(std::uint64_t address, std::size_t bytes) const {
  if (address <= memory_.size() && bytes <= memory_.size() - address) return;
  throw std::out_of_range(fmt::format("{} bytes at address {:#x} are outside the memory of {}",
                                      bytes, address, memory_.size()));
}

void BusDevice::write_memory(std::uint64_t address, const void* data, std::size_t bytes) {
  check(address, bytes);
  if (bytes != 0) std::memcpy(memory_.data() + address, data, bytes);
}

void BusDevice::read_memory(std::uint64_t address, void* data, std::size_t bytes) {
  check(address, bytes);
  if (bytes != 0) std::memcpy(data, memory_.data() + address, bytes);
}

bool BusDevice::wait_interrupt(std::uint64_t max_cycles) {
  Kernel::Use use(kernel_);
  if (!started_) run(sc_core::SC_ZERO_TIME);
  if (line.read()) return true;
  const std::uint64_t most = (~std::uint64_t{0} - sc_core::sc_time_stamp().value()) / 2;
  const std::uint64_t cycles = std::min<std::uint64_t>(max_cycles, most / period_.value());
  attentive_ = true;
  run(sc_core::sc_time::from_value(cycles * period_.value()));
  attentive_ = false;
  return line.read();
}

void BusDevice::reset() {
  Kernel::Use use(kernel_);
  accelerator_.hard_reset();
  const sc_core::sc_time time =
      sc_core::sc_time::from_value(accelerator_.clock() * period_.value());
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  run(time > now ? time - now : sc_core::SC_ZERO_TIME);
}

}  // namespace gemm64::platform

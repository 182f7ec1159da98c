// SPDX-License-Identifier: Apache-2.0
// A board with the accelerator, or its simulation, at the other end of a serial line, as a Device.
#pragma once

#include <string>

#include "host/device/bridge.hpp"
#include "host/device/registry.hpp"
#include "sim/integrations/fpga/serial_line.hpp"

namespace gemm64 {

/// Speaks to rtl/board/gemm64_bridge.v. DeviceError, besides what Device promises, where an answer
/// does not come within kPatience. The board counts its cycles itself; cycles() is 0.
class SerialDevice : public Device {
 public:
  static constexpr std::chrono::milliseconds kPatience{10000};

  /// Opens the line and brings the bridge to a known state, whatever was lost before. Throws
  /// UsageError as SerialLine does, DeviceError where no board answers.
  explicit SerialDevice(const std::string& path);

  std::uint32_t read_register(std::uint32_t offset) override;
  void write_register(std::uint32_t offset, std::uint32_t value) override;
  std::uint64_t memory_bytes() const override { return memory_bytes_; }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override;
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override;
  bool wait_interrupt(std::uint64_t max_cycles) override;
  void reset() override;
  std::uint64_t cycles() const override { return 0; }
  std::string name() const override { return "serial"; }

 private:
  void ask(bridge::Command command, std::uint32_t address, std::uint32_t value);
  void send(const void* data, std::size_t bytes);
  void receive(void* data, std::size_t bytes);
  std::uint8_t status();
  std::uint32_t word();
  void check_response(std::uint8_t response, const char* access, std::uint32_t offset);
  void check_range(std::uint64_t address, std::size_t bytes) const;

  SerialLine line_;
  std::uint64_t memory_bytes_ = 0;
};

/// The entry of the registry: "serial:/dev/ttyUSB0".
DeviceKind serial_kind();

}  // namespace gemm64

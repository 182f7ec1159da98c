// SPDX-License-Identifier: Apache-2.0
// The interface between host and accelerator: all that the driver may know of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/device/dram_timing.hpp"
#include "host/device/shared_bytes.hpp"

namespace gemm64 {

/// An accelerator with its memory, as a driver sees it: 32-bit registers, a byte-addressed memory
/// that both sides reach, and one interrupt line. Not thread-safe; one driver per device.
class Device {
 public:
  virtual ~Device() = default;

  /// Reads or writes the register at byte `offset` (a multiple of 4; see rtl/gemm64.json).
  /// Throws DeviceError if the register bus answers with an error.
  virtual std::uint32_t read_register(std::uint32_t offset) = 0;
  virtual void write_register(std::uint32_t offset, std::uint32_t value) = 0;

  /// Bytes of memory; addresses run from 0 to memory_bytes() - 1.
  virtual std::uint64_t memory_bytes() const = 0;

  /// Copies `bytes` to or from device memory; takes no simulated time.
  /// Throws std::out_of_range if the range does not lie inside the memory.
  virtual void write_memory(std::uint64_t address, const void* data, std::size_t bytes) = 0;
  virtual void read_memory(std::uint64_t address, void* data, std::size_t bytes) = 0;

  /// The same as write_memory(); the device may hold on to the bytes in place of a copy.
  virtual void place_memory(std::uint64_t address, const SharedBytes& bytes) {
    write_memory(address, bytes.data(), bytes.size());
  }

  /// Runs until the interrupt line is high (true) or `max_cycles` have passed (false).
  virtual bool wait_interrupt(std::uint64_t max_cycles) = 0;

  /// Hard reset: registers take their reset values, memory keeps its contents.
  virtual void reset() = 0;

  /// The same, and cycles() goes on from `clock`, which is not below what it is. A device without a
  /// notion of time is only reset.
  virtual void reset_at(std::uint64_t clock) {
    static_cast<void>(clock);
    reset();
  }

  /// Simulated cycles since construction; 0 for a device without a notion of time.
  virtual std::uint64_t cycles() const = 0;

  /// What its DRAM channel has counted since the last hard reset; zeros where it has none.
  virtual DramCounts dram_counts() const { return {}; }

  /// "rtl", "tlm" or "reference".
  virtual std::string name() const = 0;
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A device between a test and another one.
#pragma once

#include "host/device/device.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// Does everything as the device after it, but for what a test overrides. `Inner` is a device of
/// its own (ReferenceDevice) or another's (Device&); `Interface` what both are.
template <class Inner, class Interface = Device>
class WrappedDevice : public Interface {
 public:
  template <class... Arguments>
  explicit WrappedDevice(Arguments&&... arguments)
      : inner_(std::forward<Arguments>(arguments)...) {}

  std::uint32_t read_register(std::uint32_t offset) override {
    return inner_.read_register(offset);
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    inner_.write_register(offset, value);
  }
  std::uint64_t memory_bytes() const override { return inner_.memory_bytes(); }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override {
    inner_.write_memory(address, data, bytes);
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    inner_.read_memory(address, data, bytes);
  }
  bool wait_interrupt(std::uint64_t max_cycles) override {
    return inner_.wait_interrupt(max_cycles);
  }
  void reset() override { inner_.reset(); }
  std::uint64_t cycles() const override { return inner_.cycles(); }
  std::string name() const override { return inner_.name(); }

 protected:
  Inner inner_;
};

}  // namespace gemm64

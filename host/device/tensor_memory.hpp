// SPDX-License-Identifier: Apache-2.0
// A memory with the words of the tensor memory after it, while that is enabled.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "host/device/device_memory.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// The memory that the engines of a device in C++ see. The host sees the other one only.
class TensorMemory final : public DeviceMemory {
 public:
  explicit TensorMemory(DeviceMemory& other) : other_(other) {}

  /// Serves the addresses that this geometry says, from now on.
  void enable(const Geometry& geometry) {
    base_ = geometry.tensor_memory ? geometry.tensor_base() : ~std::uint64_t{0};
    const std::size_t words = geometry.tensor_memory ? geometry.tensor_words : 0;
    bytes_.assign(words * geometry.n, 0);
  }

  /// The memory that the host sees.
  DeviceMemory& other() { return other_; }

  std::uint64_t size() const override { return other_.size(); }
  std::uint64_t reach(std::uint64_t address, std::uint64_t bytes) override {
    return address < base_ ? other_.reach(address, bytes) : bytes;  // others have been refused
  }
  const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                           std::vector<std::uint8_t>& scratch) override {
    if (address < base_) return other_.read(address, bytes, scratch);
    return bytes_.data() + (address - base_);
  }
  void write(std::uint64_t address, const void* data, std::uint64_t bytes) override {
    if (address < base_) return other_.write(address, data, bytes);
    if (bytes != 0) std::memcpy(bytes_.data() + (address - base_), data, bytes);
  }
  void place(std::uint64_t address, const SharedBytes& bytes) override {
    other_.place(address, bytes);
  }

 private:
  DeviceMemory& other_;
  std::uint64_t base_ = ~std::uint64_t{0};
  std::vector<std::uint8_t> bytes_;
};

}  // namespace gemm64

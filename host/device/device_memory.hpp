// SPDX-License-Identifier: Apache-2.0
// The memory that a device written in C++ works on: its own, or one behind a bus.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/pages.hpp"

namespace gemm64 {

/// Bytes by address, some of which may not exist.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// One past the highest address.
  virtual std::uint64_t size() const = 0;

  /// How many of the `bytes` from `address` on exist, counted from the first.
  virtual std::uint64_t reach(std::uint64_t address, std::uint64_t bytes) = 0;

  /// `bytes` that exist: where they lie, or copied to `scratch`. Good until the next call.
  virtual const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                                   std::vector<std::uint8_t>& scratch) = 0;

  /// Writes bytes that exist.
  virtual void write(std::uint64_t address, const void* data, std::uint64_t bytes) = 0;
};

/// A memory of one's own, from address 0 on, zero until written.
class OwnMemory final : public DeviceMemory {
 public:
  /// Throws UsageError where `bytes` is 0.
  explicit OwnMemory(std::uint64_t bytes) : pages_(bytes) {}

  std::uint64_t size() const override { return pages_.size(); }
  std::uint64_t reach(std::uint64_t address, std::uint64_t bytes) override;
  const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                           std::vector<std::uint8_t>& /*scratch*/) override {
    return pages_.at(address, bytes);
  }
  void write(std::uint64_t address, const void* data, std::uint64_t bytes) override;

 private:
  Pages pages_;
};

}  // namespace gemm64

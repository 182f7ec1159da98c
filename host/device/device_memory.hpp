// SPDX-License-Identifier: Apache-2.0
// The memory that a device written in C++ works on: its own, or one on a bus.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "host/device/pages.hpp"
#include "host/device/shared_bytes.hpp"

namespace gemm64 {

/// Bytes by address, some of which may not exist.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// One past the highest address.
  virtual std::uint64_t size() const = 0;

  /// How many of the `bytes` from `address` on exist, counted from the first.
  virtual std::uint64_t reach(std::uint64_t address, std::uint64_t bytes) = 0;

  /// `bytes` that exist: where they lie, or copied to `scratch`. Where they lie is good until a
  /// write, or until a higher address than all before is read.
  virtual const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                                   std::vector<std::uint8_t>& scratch) = 0;

  /// Writes bytes that exist.
  virtual void write(std::uint64_t address, const void* data, std::uint64_t bytes) = 0;

  /// The same; the memory may hold on to the bytes in place of a copy.
  virtual void place(std::uint64_t address, const SharedBytes& bytes) {
    write(address, bytes.data(), bytes.size());
  }
};

/// A memory of one's own, from address 0 on, zero until written.
class OwnMemory final : public DeviceMemory {
 public:
  /// Throws UsageError if `bytes` is 0.
  explicit OwnMemory(std::uint64_t bytes) : pages_(bytes) {}

  std::uint64_t size() const override { return pages_.size(); }
  std::uint64_t reach(std::uint64_t address, std::uint64_t bytes) override;
  const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                           std::vector<std::uint8_t>& scratch) override;
  void write(std::uint64_t address, const void* data, std::uint64_t bytes) override;
  void place(std::uint64_t address, const SharedBytes& bytes) override;

 private:
  /// The overlay of the pages, from `offset` of the bytes on, up to the address `end`.
  struct Placed {
    std::uint64_t end;
    SharedBytes bytes;
    std::uint64_t offset;
  };

  void uncover(std::uint64_t first, std::uint64_t end);
  /// Bytes from `address` on as they lie, at most `bytes`, of which it says how many they are.
  const std::uint8_t* run(std::uint64_t address, std::uint64_t& bytes);

  Pages pages_;
  std::map<std::uint64_t, Placed> placed_;  // by their first addresses; none overlaps another
};

}  // namespace gemm64

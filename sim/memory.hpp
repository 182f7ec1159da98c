// SPDX-License-Identifier: Apache-2.0
// The memory behind the accelerator's AXI ports.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gemm64 {

/// Flat byte-addressed storage, zero until written. Only pages that were written take real memory,
/// so a large address space costs nothing.
class Memory {
 public:
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{4} << 30;

  /// Reserves `bytes` of address space. Throws UsageError where `bytes` is 0 or the system refuses.
  explicit Memory(std::uint64_t bytes = kDefaultBytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::uint64_t size() const { return size_; }

  /// Copies `bytes` into the memory at `address`, or out of it. Throws std::out_of_range, and
  /// copies nothing, where any byte of the range lies outside.
  void write(std::uint64_t address, const void* data, std::size_t bytes);
  void read(std::uint64_t address, void* data, std::size_t bytes) const;

  /// The bytes themselves, for the ports, which check the bounds once a burst.
  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }

 private:
  void check(const char* what, std::uint64_t address, std::size_t bytes) const;

  std::uint64_t size_;
  std::uint8_t* data_;
};

}  // namespace gemm64

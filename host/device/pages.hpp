// SPDX-License-Identifier: Apache-2.0
// A large memory of which little is used.
#pragma once

#include <cstdint>

namespace gemm64 {

/// Bytes from address 0 on, zero until written. Address space is reserved as far as addresses were
/// asked for, rounded up generously, and only pages that were touched take real memory.
class Pages {
 public:
  /// Reserves nothing yet. Throws UsageError if `bytes` is 0.
  explicit Pages(std::uint64_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uint64_t size() const { return size_; }

  /// The bytes at `address` and after it, of which `bytes` may be used until the next call; all
  /// must lie inside. Throws UsageError if the system refuses the memory.
  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) {
    if (address + bytes > reserved_) reserve(address + bytes);
    return data_ + address;
  }

 private:
  void reserve(std::uint64_t bytes);

  std::uint64_t size_;
  std::uint64_t reserved_ = 0;
  std::uint8_t* data_ = nullptr;
};

}  // namespace gemm64

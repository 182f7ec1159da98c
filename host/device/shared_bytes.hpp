// SPDX-License-Identifier: Apache-2.0
// Immutable bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gemm64 {

/// Copies share the bytes, which live as long as the last of them.
class SharedBytes {
 public:
  SharedBytes(std::vector<std::uint8_t> bytes)  // NOLINT(google-explicit-constructor)
      : bytes_(std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes))) {}

  const std::uint8_t* data() const { return bytes_->data(); }
  std::size_t size() const { return bytes_->size(); }

 private:
  std::shared_ptr<const std::vector<std::uint8_t>> bytes_;
};

}  // namespace gemm64

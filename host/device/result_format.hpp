// SPDX-License-Identifier: Apache-2.0
// How results lie in memory. Nothing else knows how many bytes or beats they take.
#pragma once

#include <cstdint>

namespace gemm64 {

/// The type of the values that STORE writes.
class ResultFormat {
 public:
  static constexpr ResultFormat int32() { return ResultFormat(4); }

  /// Bytes of one value.
  constexpr std::uint32_t bytes() const { return bytes_; }

  /// Beats of the write port for one row of a block: N values on a port of N bytes.
  constexpr std::uint32_t beats_per_row() const { return bytes_; }

  /// Bytes of `rows` rows of a block on an array of size N.
  constexpr std::uint64_t block_bytes(std::uint64_t rows, std::uint32_t array) const {
    return rows * array * bytes_;
  }

  friend constexpr bool operator==(ResultFormat a, ResultFormat b) { return a.bytes_ == b.bytes_; }

 private:
  constexpr explicit ResultFormat(std::uint32_t bytes) : bytes_(bytes) {}

  std::uint32_t bytes_;
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// How results lie in memory. Nothing else knows how many bytes or beats they take.
#pragma once

#include <cstdint>
#include <optional>

#include "host/device/registers.hpp"

namespace gemm64 {

/// Words of the parameters that a tile of 8-bit results takes: N int32 biases, then N float32
/// scales, in words of N bytes.
inline constexpr std::uint32_t kParameterSetWords = 8;

/// The type of the values that STORE writes, one of kResultFormats.
class ResultFormat {
 public:
  constexpr explicit ResultFormat(ResultCode code) : entry_(find(code)) {}
  static constexpr ResultFormat int32() { return ResultFormat(ResultCode::kInt32); }

  /// The format that a command's FORMAT names; none where no format has that number.
  static constexpr std::optional<ResultFormat> of(std::uint32_t number) {
    for (const ResultFormatEntry& entry : kResultFormats) {
      if (static_cast<std::uint32_t>(entry.code) == number) return ResultFormat(entry.code);
    }
    return std::nullopt;
  }

  constexpr ResultCode code() const { return entry_->code; }

  constexpr const char* name() const { return entry_->name; }

  /// Its number, as a command's FORMAT holds it.
  constexpr std::uint32_t number() const { return static_cast<std::uint32_t>(entry_->code); }

  /// Bytes of one value.
  constexpr std::uint32_t bytes() const { return entry_->bytes; }

  /// Whether values below zero can be represented.
  constexpr bool is_signed() const { return entry_->is_signed; }

  /// Are values made of the sums by bias, scale, zero point and bounds? Then each tile takes a set
  /// of parameters.
  constexpr bool takes_parameters() const { return code() != ResultCode::kInt32; }

  /// The least and the largest value of 8 bits.
  constexpr int least() const { return is_signed() ? -128 : 0; }
  constexpr int largest() const { return is_signed() ? 127 : 255; }

  /// The value of 8 bits that a byte of a command or of memory holds.
  constexpr int value(std::uint32_t byte) const {
    return is_signed() && byte >= 128 ? static_cast<int>(byte) - 256 : static_cast<int>(byte);
  }

  /// Beats of the write port for one row of a block: N values on a port of N bytes.
  constexpr std::uint32_t beats_per_row() const { return bytes(); }

  /// Bytes of `rows` rows of a block on an array of size N.
  constexpr std::uint64_t block_bytes(std::uint64_t rows, std::uint32_t array) const {
    return rows * array * bytes();
  }

  friend constexpr bool operator==(ResultFormat a, ResultFormat b) { return a.code() == b.code(); }

 private:
  static constexpr const ResultFormatEntry* find(ResultCode code) {
    const ResultFormatEntry* entry = kResultFormats.data();
    while (entry->code != code) ++entry;
    return entry;
  }

  const ResultFormatEntry* entry_;
};

}  // namespace gemm64

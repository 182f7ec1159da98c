// SPDX-License-Identifier: Apache-2.0
// How results lie in memory. Nothing else knows how many bytes or beats they take.
#pragma once

#include <cstdint>
#include <optional>

#include "host/device/registers.hpp"

namespace gemm64 {

/// The type of the values that STORE writes, one of kResultFormats.
class ResultFormat {
 public:
  constexpr explicit ResultFormat(ResultCode code) : entry_(find(code)) {}
  static constexpr ResultFormat int32() { return ResultFormat(ResultCode::kInt32); }

  /// The format of a STORE; none where no format has that number.
  static constexpr std::optional<ResultFormat> of(const Command& store) {
    for (const ResultFormatEntry& entry : kResultFormats) {
      if (static_cast<std::uint32_t>(entry.code) == store.format) return ResultFormat(entry.code);
    }
    return std::nullopt;
  }

  constexpr ResultCode code() const { return entry_->code; }

  /// Its number, as a command's FORMAT holds it.
  constexpr std::uint32_t number() const { return static_cast<std::uint32_t>(entry_->code); }

  /// Bytes of one value.
  constexpr std::uint32_t bytes() const { return entry_->bytes; }

  /// Whether values below zero can be told.
  constexpr bool is_signed() const { return entry_->is_signed; }

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

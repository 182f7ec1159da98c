// SPDX-License-Identifier: Apache-2.0
// What STOREs with VECTOR take and refuse, and what becomes of a result there.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "host/device/command_types.hpp"

namespace gemm64 {

inline constexpr std::uint32_t kTableBytes = 256;

/// Words of N bytes that hold a table.
constexpr std::uint32_t table_words(std::uint32_t n) { return kTableBytes / n; }

/// Do results of the STORE pass the element-wise unit?
constexpr bool is_vector(const StoreCommand& store) { return (store.flags & flag::kVector) != 0; }
constexpr bool is_vector(const Command& command) {
  return command.opcode == Opcode::kStore && (command.flags & flag::kVector) != 0;
}

/// The settings of the element-wise unit, STORE after STORE.
class VectorSettings {
 public:
  /// The next STORE begins. One with KEEP leaves the settings as they are.
  void begin(const StoreCommand& store);
  /// Of the STORE that has begun: do its results pass the element-wise unit?
  bool used() const { return used_; }
  /// Words of operands that its table takes, before those of its first tile.
  std::uint32_t table_words(std::uint32_t n) const;
  /// Words of operands that each of its tiles takes.
  std::uint32_t tile_words() const;
  /// The STORE whose settings hold.
  const StoreCommand& store() const { return store_; }

 private:
  StoreCommand store_{}, last_{};
  bool used_ = false;
};

/// The byte that is written for an 8-bit result: of `table` (null: none), then added to or
/// multiplied with its operand as `settings` says. Every operation rounds to float32.
std::uint8_t vector_result(const StoreCommand& settings,
                           const std::array<std::uint8_t, kTableBytes>* table, std::uint8_t result,
                           std::uint8_t operand);

/// The lanes that are written: from the first up to but not including the second.
std::pair<std::uint32_t, std::uint32_t> vector_lanes(const StoreCommand& settings, std::uint32_t n);

}  // namespace gemm64

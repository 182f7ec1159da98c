// SPDX-License-Identifier: Apache-2.0
// Made by scripts/codegen/generate.py from rtl/gemm64.json: edit that file, then run `scripts/codegen/generate.py`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gemm64::bridge {

/// What the bridge of a board is asked: a byte, followed by an address and a value of four bytes
/// each.
enum class Command : std::uint8_t {
  /// Answers with the status, the name (three bytes, g64) and the log2 of the memory's bytes.
  kPing = 0xa1,
  /// Answers with the bus's response and the register's four bytes.
  kReadRegister = 0xa2,
  /// Writes the value; answers with the bus's response.
  kWriteRegister = 0xa3,
  /// Answers with the status and as many bytes of memory as the value says, at most a block.
  kReadMemory = 0xa4,
  /// Takes as many bytes as the value says, at most a block; answers with the status behind the
  /// last one.
  kWriteMemory = 0xa5,
  /// Waits until the interrupt is high or as many clocks have passed as the value says; answers
  /// with 1 where it is high, else 0.
  kWait = 0xa6,
  /// Resets the accelerator for 8 clocks; memory keeps its contents. Answers with the status.
  kReset = 0xa7,
};

inline constexpr std::uint32_t kName = 0x343667;  // three bytes
inline constexpr std::uint32_t kBaud = 1000000;
inline constexpr std::size_t kBlock = 1024;  // bytes of a command, at most

}  // namespace gemm64::bridge

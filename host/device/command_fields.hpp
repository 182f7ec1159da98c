// SPDX-License-Identifier: Apache-2.0
// Made by scripts/generate from rtl/gemm64.json: edit that file, then run `scripts/generate`.
#pragma once

#include <array>
#include <cstdint>

#include "host/device/registers.hpp"

namespace gemm64 {

/// A field of a command: where it lies, and which opcodes use it (a bit for each, 1 << value).
struct CommandField {
  const char* name;
  std::uint32_t word, lsb, width;
  std::uint32_t opcodes;

  bool used_by(Opcode opcode) const {
    return static_cast<std::uint32_t>(opcode) < 32 &&
           (opcodes >> static_cast<std::uint32_t>(opcode) & 1) != 0;
  }
};

/// Every field of a command.
// clang-format off
inline constexpr std::array<CommandField, 38> kCommandFields{{
    {"OPCODE", 0, 0, 8, 0x1fe},
    {"FLAGS", 0, 8, 8, 0x04c},
    {"ROWS", 0, 16, 16, 0x01c},
    {"COUNT", 1, 0, 32, 0x0de},
    {"PASSES", 2, 0, 32, 0x08e},
    {"BLOCKS", 3, 0, 32, 0x01c},
    {"ADDRESS_LOW", 4, 0, 32, 0x0d6},
    {"ADDRESS_HIGH", 5, 0, 32, 0x0d6},
    {"FORMAT", 6, 0, 4, 0x010},
    {"ZERO", 6, 8, 8, 0x110},
    {"LOW", 6, 16, 8, 0x010},
    {"HIGH", 6, 24, 8, 0x010},
    {"STRIDE", 7, 0, 32, 0x014},
    {"KERNEL_HEIGHT", 8, 0, 8, 0x100},
    {"KERNEL_WIDTH", 8, 8, 8, 0x100},
    {"STRIDE_HEIGHT", 8, 16, 8, 0x100},
    {"STRIDE_WIDTH", 8, 24, 8, 0x100},
    {"DILATION_HEIGHT", 9, 0, 8, 0x100},
    {"DILATION_WIDTH", 9, 8, 8, 0x100},
    {"PAD_TOP", 9, 16, 8, 0x100},
    {"PAD_LEFT", 9, 24, 8, 0x100},
    {"HEIGHT", 10, 0, 16, 0x100},
    {"WIDTH", 10, 16, 16, 0x100},
    {"OUT_HEIGHT", 11, 0, 16, 0x100},
    {"OUT_WIDTH", 11, 16, 16, 0x100},
    {"ROW_STEP", 12, 0, 16, 0x100},
    {"IMAGE_STEP", 12, 16, 16, 0x100},
    {"TAP_ROW_STEP", 13, 0, 16, 0x100},
    {"GROUP_PASSES", 13, 16, 16, 0x100},
    {"CAPACITY", 14, 0, 16, 0x104},
    {"SLOT", 14, 16, 16, 0x00c},
    {"PLACE", 15, 0, 32, 0x004},
    {"OUT_ROW", 8, 0, 16, 0x008},
    {"OUT_COLUMN", 8, 16, 16, 0x008},
    {"IN_ROW", 9, 0, 32, 0x008},
    {"IN_COLUMN", 10, 0, 32, 0x008},
    {"NEW_PIXELS", 11, 0, 16, 0x008},
    {"FREED_PIXELS", 11, 16, 16, 0x008},
}};
// clang-format on

}  // namespace gemm64

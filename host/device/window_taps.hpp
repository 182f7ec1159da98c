// SPDX-License-Identifier: Apache-2.0
// What the taps of a convolution meet, as its commands say it.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/command_types.hpp"

namespace gemm64 {

/// Is it a command of windows: SET_WINDOW, or one that has the flag WINDOW where it means
/// something?
constexpr bool is_window(const LoadActivationsCommand& load) {
  return (load.flags & flag::kWindow) != 0;
}
constexpr bool is_window(const MatmulCommand& matmul) {
  return (matmul.flags & flag::kWindow) != 0;
}
constexpr bool is_window(const Command& command) {
  if (command.opcode == Opcode::kSetWindow) return true;
  return (command.opcode == Opcode::kLoadActivations || command.opcode == Opcode::kMatmul) &&
         (command.flags & flag::kWindow) != 0;
}

/// Taps of a window.
constexpr std::uint32_t taps_of(const SetWindowCommand& set) {
  return set.kernel_height * set.kernel_width;
}

/// One of a block's tiles: a tap of a plane, in one pass.
struct WindowTile {
  std::uint32_t pass = 0;
  std::uint32_t plane = 0;  // of the scratchpad
  std::uint32_t tap_row = 0, tap_column = 0;
  bool first_read = false;  // no tile before it in the block reads the plane
};

/// The input pixel that a tap meets.
struct WindowPixel {
  std::int64_t row = 0, column = 0;  // of the picture; perhaps outside of it
  std::uint32_t slot = 0;            // in each plane, if it is inside
  bool inside = false;
};

/// A block of output pixels: what SET_WINDOW and a MATMUL with WINDOW say, in closed form.
class WindowTaps {
 public:
  /// Both commands are such as check_command() takes.
  WindowTaps(const SetWindowCommand& set, const MatmulCommand& matmul);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(corners_.size()); }
  /// Tiles of a pass: planes times taps.
  std::uint64_t tiles() const;
  /// The tile that comes as number `tile` of a pass, both from 0.
  WindowTile tile(std::uint32_t pass, std::uint64_t tile) const;
  /// What its tap meets at the block's output pixel number `row`.
  WindowPixel pixel(const WindowTile& tile, std::uint32_t row) const;

 private:
  /// What tap 0 meets at an output pixel, as if there were no border.
  struct Corner {
    std::int64_t row, column;
    std::uint32_t slot;
  };

  SetWindowCommand set_;
  std::uint32_t planes_;
  std::vector<Corner> corners_;
};

}  // namespace gemm64

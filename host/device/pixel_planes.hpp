// SPDX-License-Identifier: Apache-2.0
// What the scratchpad keeps of a convolution's input: planes of pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/command_types.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64 {

/// Pixels are counted once, whatever number of planes they have; their words are counted as they
/// come, until a block claims them.
class PixelPlanes {
 public:
  /// A scratchpad of words of n bytes.
  PixelPlanes(std::uint32_t words, std::uint32_t n);

  /// Nothing is kept, and nothing ready.
  void clear();
  bool empty() const { return counted(kept_) == 0; }

  /// Have words come that no block claimed?
  bool unclaimed() const { return ready_ != 0; }

  /// May a LOAD_ACTIVATIONS with WINDOW begin, as far as its pixels are concerned?
  bool has_room(const LoadActivationsCommand& load) const;
  /// It begins: its pixels are kept from now on.
  void begin(const LoadActivationsCommand& load);
  /// Its words of one plane, counted from 0, have come.
  void put(const LoadActivationsCommand& load, std::uint32_t plane, const std::uint8_t* words);

  /// Have the words that a block brought for a plane come?
  bool ready(std::uint32_t new_pixels) const { return ready_ >= new_pixels; }
  void claim(std::uint32_t new_pixels) { ready_ -= new_pixels; }
  void free(std::uint32_t pixels) { kept_ -= pixels; }

  /// Writes the words that a tile reads, one a row, to `to`; beyond the border all bytes are ZERO.
  void gather(const SetWindowCommand& set, const WindowTaps& taps, const WindowTile& tile,
              std::uint8_t* to) const;

 private:
  /// As the accelerator counts pixels, in 17 bits: a program that frees more than it loaded wraps.
  static std::uint32_t counted(std::int64_t pixels) {
    return static_cast<std::uint32_t>(pixels) & 0x1ffff;
  }

  std::uint64_t n_;
  std::vector<std::uint8_t> bytes_;
  std::int64_t kept_ = 0, ready_ = 0;
};

}  // namespace gemm64

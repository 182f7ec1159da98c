// SPDX-License-Identifier: Apache-2.0
#include "host/device/pixel_planes.hpp"

#include <algorithm>
#include <cstring>

namespace gemm64 {

PixelPlanes::PixelPlanes(std::uint32_t words, std::uint32_t n)
    : n_(n), bytes_(std::size_t{words} * n) {}

void PixelPlanes::clear() { kept_ = ready_ = 0; }

bool PixelPlanes::has_room(const LoadActivationsCommand& load) const {
  if (load.place != 0) return true;
  return (load.flags & flag::kStart) != 0 ? empty() : counted(kept_ + load.rows) <= load.capacity;
}

void PixelPlanes::begin(const LoadActivationsCommand& load) {
  if (load.place == 0) kept_ += load.rows;
}

void PixelPlanes::put(const LoadActivationsCommand& load, std::uint32_t plane,
                      const std::uint8_t* words) {
  const std::uint64_t first = load.place + std::uint64_t{plane} * load.capacity;
  const std::uint32_t before_end = std::min(load.rows, load.capacity - load.slot);
  std::memcpy(bytes_.data() + (first + load.slot) * n_, words, before_end * n_);
  std::memcpy(bytes_.data() + first * n_, words + before_end * n_, (load.rows - before_end) * n_);
  ready_ += load.rows;
}

void PixelPlanes::gather(const SetWindowCommand& set, const WindowTaps& taps,
                         const WindowTile& tile, std::uint8_t* to) const {
  const std::uint64_t plane = std::uint64_t{tile.plane} * set.capacity;
  for (std::uint32_t row = 0; row < taps.rows(); ++row, to += n_) {
    const WindowPixel pixel = taps.pixel(tile, row);
    const std::uint64_t place = (plane + pixel.slot) * n_;
    // A plane beyond the scratchpad is the host's mistake.
    if (pixel.inside && place < bytes_.size()) {
      std::memcpy(to, bytes_.data() + place, n_);
    } else {
      std::memset(to, static_cast<int>(set.zero), n_);
    }
  }
}

}  // namespace gemm64

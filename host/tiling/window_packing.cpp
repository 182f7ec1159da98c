// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/window_packing.hpp"

#include <algorithm>
#include <cstring>

#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

/// Where in the packed weights a channel of the input begins, and how far it is from one of its
/// taps to the next: tiles of one plane follow each other.
struct Places {
  const Window& window;
  std::uint64_t n;

  std::uint64_t tile_bytes() const { return n * n; }
  std::uint64_t first(std::uint64_t out_channel, std::uint64_t channel) const {
    const std::uint64_t pass = out_channel / n;
    const std::uint64_t plane = channel / n - pass / window.group_passes * window.group_planes;
    const std::uint64_t taps = std::uint64_t{window.kernel_height} * window.kernel_width;
    return (pass * window.group_planes + plane) * taps * tile_bytes() + out_channel % n * n +
           channel % n;
  }
};

}  // namespace

std::vector<std::uint8_t> pack_window_weights(const WindowCut& cut, const MatrixI8& weights) {
  const Convolution& c = cut.convolution;
  const std::uint64_t n = cut.strips.front().plan.n;
  const Places places{cut.window, n};
  std::vector<std::uint8_t> packed(cut.window.tiles() * places.tile_bytes());
  const auto* from = reinterpret_cast<const std::uint8_t*>(weights.data());
  for (std::uint64_t out = 0; out < c.out_channels; ++out) {
    const std::uint64_t first = out / c.group_out_channels() * c.group_channels();
    const std::uint64_t end = first + c.group_channels();
    // The channels of a word at a time: tiles are far from each other, and a cache has few places
    // for addresses that far.
    for (std::uint64_t channel = first; channel < end;) {
      const std::uint64_t count = std::min(n - channel % n, end - channel);
      std::uint8_t* to = packed.data() + places.first(out, channel);
      for (std::uint32_t tap = 0; tap < c.taps(); ++tap, to += places.tile_bytes()) {
        for (std::uint64_t i = 0; i < count; ++i) to[i] = from[i * c.taps() + tap];
      }
      from += count * c.taps();
      channel += count;
    }
  }
  return packed;
}

std::vector<std::uint8_t> pack_pixels(const MatrixI8& activations, std::uint32_t n) {
  const auto channels = static_cast<std::uint64_t>(activations.cols());
  const auto pixels = static_cast<std::uint64_t>(activations.rows());
  std::vector<std::uint8_t> packed(pixels * divide_up(channels, n) * n);
  std::uint8_t* to = packed.data();
  for (std::uint64_t channel = 0; channel < channels; channel += n) {
    const std::uint64_t bytes = std::min<std::uint64_t>(n, channels - channel);
    const std::int8_t* from = activations.data() + channel;
    for (std::uint64_t pixel = 0; pixel < pixels; ++pixel, to += n, from += channels) {
      std::memcpy(to, from, bytes);
    }
  }
  return packed;
}

}  // namespace gemm64

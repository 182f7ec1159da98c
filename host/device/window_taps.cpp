// SPDX-License-Identifier: Apache-2.0
#include "host/device/window_taps.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kValues = 1u << 16;

/// A size of 16 bits; the host never gives 0.
std::uint64_t size(std::uint32_t value) { return value == 0 ? kValues : value; }

}  // namespace

WindowTaps::WindowTaps(const SetWindowCommand& set, const MatmulCommand& matmul)
    : set_(set), planes_(matmul.count), corners_(matmul.rows) {
  const std::uint64_t width = size(set.out_width), height = size(set.out_height);
  for (std::uint64_t i = 0; i < corners_.size(); ++i) {
    // Output pixel i of the block is `lines` output rows below the first, `images` of them
    // beginning an image.
    const std::uint64_t lines = (matmul.out_column + i) / width;
    const std::uint64_t images = (matmul.out_row + lines) / height;
    const std::uint64_t out_row = (matmul.out_row + lines) % height;
    const std::uint64_t out_column = (matmul.out_column + i) % width;
    Corner& corner = corners_[i];
    corner.row = images == 0 ? matmul.in_row + static_cast<std::int64_t>(lines * set.stride_height)
                             : static_cast<std::int64_t>(out_row * set.stride_height) -
                                   static_cast<std::int64_t>(set.pad_top);
    corner.column = lines == 0 ? matmul.in_column + static_cast<std::int64_t>(i * set.stride_width)
                               : static_cast<std::int64_t>(out_column * set.stride_width) -
                                     static_cast<std::int64_t>(set.pad_left);
    const std::uint64_t steps =
        (i - lines) * set.stride_width + (lines - images) * set.row_step + images * set.image_step;
    corner.slot = static_cast<std::uint32_t>((matmul.slot + steps) % set.capacity);
  }
}

std::uint64_t WindowTaps::tiles() const { return std::uint64_t{planes_} * taps_of(set_); }

WindowTile WindowTaps::tile(std::uint32_t pass, std::uint64_t tile) const {
  const std::uint32_t taps = taps_of(set_);
  const auto tap = static_cast<std::uint32_t>(tile % taps);
  const auto plane = static_cast<std::uint32_t>(tile / taps);
  return {pass, pass / set_.group_passes * planes_ + plane, tap / set_.kernel_width,
          tap % set_.kernel_width, tap == 0 && pass % set_.group_passes == 0};
}

WindowPixel WindowTaps::pixel(const WindowTile& tile, std::uint32_t row) const {
  const Corner& corner = corners_[row];
  WindowPixel pixel;
  pixel.row = corner.row + std::int64_t{tile.tap_row} * set_.dilation_height;
  pixel.column = corner.column + std::int64_t{tile.tap_column} * set_.dilation_width;
  pixel.inside =
      pixel.row >= 0 && pixel.row < set_.height && pixel.column >= 0 && pixel.column < set_.width;
  // From a row of taps to the next: along the row, and TAP_ROW_STEP from its end.
  const std::uint64_t along = std::uint64_t{set_.kernel_width - 1} * set_.dilation_width;
  const std::uint64_t distance = tile.tap_row * (along + set_.tap_row_step) +
                                 std::uint64_t{tile.tap_column} * set_.dilation_width;
  pixel.slot = static_cast<std::uint32_t>((corner.slot + distance) % set_.capacity);
  return pixel;
}

}  // namespace gemm64

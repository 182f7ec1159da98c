// SPDX-License-Identifier: Apache-2.0
#include "host/check/element_operands.hpp"

namespace gemm64 {
namespace {

Eigen::Index index(std::uint64_t value) { return static_cast<Eigen::Index>(value); }

}  // namespace

std::optional<WindowPlace> ElementOperands::place(const TileIndex& tile) const {
  if (!plan_.window) return std::nullopt;
  const Convolution& c = plan_.window->convolution;
  const Window& window = plan_.window->window;
  const auto tap = static_cast<std::uint32_t>(tile.k % c.taps());
  WindowPlace place;
  place.image = row_ / c.out_width / c.out_height;
  place.out_row = row_ / c.out_width % c.out_height;
  place.out_column = row_ % c.out_width;
  place.plane = tile.n / window.group_passes * window.group_planes + tile.k / c.taps();
  place.tap_row = tap / c.kernel_width;
  place.tap_column = tap % c.kernel_width;
  const auto meets = [](std::uint64_t out, std::uint32_t stride, std::uint32_t pad, std::uint64_t t,
                        std::uint32_t dilation) {
    return static_cast<std::int64_t>(out * stride + t * dilation) - std::int64_t{pad};
  };
  place.row = meets(place.out_row, c.stride_height, c.pad_top, place.tap_row, c.dilation_height);
  place.column =
      meets(place.out_column, c.stride_width, c.pad_left, place.tap_column, c.dilation_width);
  place.inside =
      place.row >= 0 && place.row < c.height && place.column >= 0 && place.column < c.width;
  return place;
}

std::uint64_t ElementOperands::channel(const TileIndex& tile, unsigned array_row) const {
  const auto place = this->place(tile);
  return (place ? place->plane : tile.k) * plan_.array + array_row;
}

std::optional<std::int8_t> ElementOperands::activation(const TileIndex& tile,
                                                       unsigned array_row) const {
  const std::uint64_t channel = this->channel(tile, array_row);
  if (index(channel) >= a_.cols()) return std::nullopt;
  const auto place = this->place(tile);
  if (!place) return a_(index(row_), index(channel));
  const Convolution& c = plan_.window->convolution;
  if (!place->inside) return c.zero;
  const std::uint64_t line = place->image * c.height + static_cast<std::uint64_t>(place->row);
  return a_(index(line * c.width + static_cast<std::uint64_t>(place->column)), index(channel));
}

std::int8_t ElementOperands::weight(const TileIndex& tile, unsigned array_row) const {
  const std::uint64_t channel = this->channel(tile, array_row);
  if (!plan_.window) {
    const std::uint64_t column = plan_.product_of(row_) * plan_.shape.n + column_;
    return index(channel) < w_.cols() ? w_(index(column), index(channel)) : std::int8_t{0};
  }
  const Convolution& c = plan_.window->convolution;
  const std::uint64_t first = column_ / c.group_out_channels() * c.group_channels();
  if (channel < first || channel >= first + c.group_channels()) return 0;
  return w_(index(column_), index((channel - first) * c.taps() + tile.k % c.taps()));
}

}  // namespace gemm64

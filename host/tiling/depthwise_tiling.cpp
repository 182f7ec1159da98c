// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/depthwise_tiling.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "host/device/depthwise.hpp"
#include "host/tiling/window_plan.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kByte = 0xff, kHalf = 0xffff;  // largest values of fields
constexpr std::uint32_t kLeastWidth = 2;               // of a row of words
constexpr std::uint32_t kKernels[] = {3, 5, 7};
constexpr std::uint32_t kMostRowDilation = kLaneLineWords / kLeastWidth;
constexpr std::uint32_t kLeast = 0x80;  // of the bytes with a sign
// Values of 8 bits whose sum a lane holds.
constexpr std::uint64_t kMostOfSum = std::uint64_t{1} << (kLaneSumBits - 8);

bool between(std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  return least <= value && value <= most;
}

/// Rows and columns that taps span.
std::uint64_t span(std::uint32_t taps, std::uint32_t dilation) {
  return std::uint64_t{taps - 1} * dilation + 1;
}

/// The least dilation with which a kernel of `size` taps has all of a convolution's `taps`: a
/// divisor of theirs, since taps between them have weights of zero; nothing if it is above `most`.
std::optional<std::uint32_t> least_dilation(std::uint32_t size, std::uint32_t taps,
                                            std::uint32_t dilation, std::uint32_t most) {
  if (taps == 1) return 1;
  for (std::uint32_t least = 1; least <= std::min(most, dilation); ++least) {
    if (dilation % least == 0 && span(taps, dilation / least) <= size) return least;
  }
  return std::nullopt;
}

/// Rows of a block: the most that are a whole part of a plane's, if these are not too few.
std::uint32_t block_rows(std::uint64_t rows, std::uint32_t most) {
  if (rows <= most) return static_cast<std::uint32_t>(rows);
  for (std::uint32_t part = most; 2 * part > most; --part) {
    if (rows % part == 0) return part;
  }
  return balanced_rows(rows, most);
}

/// Does a pool give a value of each map?
bool takes_whole_maps(const Convolution& c, LaneSum sum) {
  return sum != LaneSum::kProducts && c.kernel_height == c.height && c.kernel_width == c.width &&
         c.out_height == 1 && c.out_width == 1 && c.pad_top == 0 && c.pad_left == 0 &&
         c.dilation_height == 1 && c.dilation_width == 1;
}

/// The longest row that the unit accepts and that divides that number of pixels.
std::uint32_t row_of(std::uint64_t pixels) {
  std::uint32_t width = kLaneLineWords;
  while (width > 1 && pixels % width != 0) --width;
  return width;
}

/// A whole map with rows that the lanes take, if these are a part of its pixels: it does not matter
/// which of them are next to each other.
void set_map_width(Convolution& c) {
  if (between(c.width, kLeastWidth, kLaneLineWords)) return;
  const std::uint64_t pixels = std::uint64_t{c.height} * c.width;
  c.width = c.kernel_width = row_of(pixels);
  c.height = c.kernel_height = static_cast<std::uint32_t>(pixels / c.width);
}

/// Images of one pixel under a window of one, as the rows of a matrix are, as one image.
void join_pixels(Convolution& c) {
  const bool single = c.height == 1 && c.width == 1 && c.out_height == 1 && c.out_width == 1 &&
                      c.taps() == 1 && c.pad_top == 0 && c.pad_left == 0;
  if (!single) return;
  c.width = c.out_width = row_of(c.images);
  c.height = c.out_height = c.images / c.width;
  c.stride_height = c.stride_width = c.images = 1;
}

/// An image of one column as one row.
void transpose(Convolution& c) {
  std::swap(c.height, c.width);
  std::swap(c.out_height, c.out_width);
  std::swap(c.kernel_height, c.kernel_width);
  std::swap(c.stride_height, c.stride_width);
  std::swap(c.dilation_height, c.dilation_width);
  std::swap(c.pad_top, c.pad_left);
}

/// Adjacent windows of 3 x 3, which add to one row; the last one ends on the map's last pixel.
bool set_tiles(DepthwiseCommand& command) {
  constexpr std::uint32_t kSide = 3;
  if (image_words(command) > kMostOfSum) return false;
  command.flags |= flag::kAccumulate;
  command.kernel_height = command.stride_height = command.stride_width = kSide;
  command.dilation_height = command.dilation_width = 1;
  command.out_height = divide_up(command.height, kSide);
  command.out_width = divide_up(command.width, kSide);
  command.pad_top = command.out_height * kSide - command.height;
  command.pad_left = command.out_width * kSide - command.width;
  // Pixels beyond the border count nothing.
  command.zero = (command.flags & flag::kMaximum) != 0 ? kLeast : 0;
  return true;
}

/// A kernel of `size` rows and columns, with a convolution's taps in its lower right corner.
bool set_windows(const Convolution& c, std::uint32_t size, DepthwiseCommand& command) {
  const std::uint64_t high = span(c.kernel_height, c.dilation_height);
  const std::uint64_t wide = span(c.kernel_width, c.dilation_width);
  const auto down = least_dilation(size, c.kernel_height, c.dilation_height, kMostRowDilation);
  const auto across =
      least_dilation(size, c.kernel_width, c.dilation_width, most_column_dilation(size));
  if (!down || !across || c.pad_top >= high || c.pad_left >= wide) return false;
  const std::uint64_t pad_top = c.pad_top + span(size, *down) - high;
  if (pad_top > kByte) return false;
  command.kernel_height = size;
  command.stride_height = c.stride_height;
  command.stride_width = c.stride_width;
  command.dilation_height = *down;
  command.dilation_width = *across;
  command.pad_top = static_cast<std::uint32_t>(pad_top);
  command.pad_left = static_cast<std::uint32_t>(c.pad_left + span(size, *across) - wide);
  command.out_height = c.out_height;
  command.out_width = c.out_width;
  return true;
}

/// The strip of output columns [from, end) of a convolution, of whose command all else is set;
/// nothing where the lanes do not take it.
std::optional<LanesStrip> strip_of(const Convolution& c, DepthwiseCommand command,
                                   std::uint32_t from, std::uint32_t end) {
  const auto wide = static_cast<std::int64_t>(span(c.kernel_width, c.dilation_width));
  const std::int64_t width = c.width, stride = c.stride_width;
  const std::int64_t first = from * stride - c.pad_left;  // column of the first tap
  std::int64_t in = std::clamp<std::int64_t>(first, 0, width);
  std::int64_t in_end = std::min((end - 1) * stride - c.pad_left + wide, width);
  // As many columns as the lanes take at least.
  in_end = std::min(std::max<std::int64_t>(in_end, in + kLeastWidth), width);
  in = std::min<std::int64_t>(in, in_end - kLeastWidth);
  const auto reach = static_cast<std::int64_t>(span(command.kernel_height, command.dilation_width));
  const std::int64_t pad = in - first + reach - wide;
  if (pad < 0) return std::nullopt;  // it begins beyond the border
  command.width = static_cast<std::uint32_t>(in_end - in);
  command.pad_left = static_cast<std::uint32_t>(pad);
  command.out_width = command.rows = end - from;
  return LanesStrip{command, static_cast<std::uint32_t>(in), from};
}

/// Strips of the same width or so, as few as there can be.
bool set_strips(DepthwiseTiling& cut, const DepthwiseCommand& command, const Geometry& geometry) {
  const Convolution& c = cut.convolution;
  // A load of a row has no more words than a bank has rows.
  const std::uint32_t most =
      std::min(kLaneLineWords / command.dilation_height, geometry.accumulator_rows);
  const std::uint64_t wide = span(c.kernel_width, c.dilation_width);
  if (wide > most) return false;
  const std::uint64_t columns = (most - wide) / c.stride_width + 1;
  const std::uint64_t strips = divide_up(c.out_width, columns);
  for (std::uint64_t i = 0; i < strips; ++i) {
    const auto column = [&](std::uint64_t of) {
      return static_cast<std::uint32_t>(of * c.out_width / strips);
    };
    const auto strip = strip_of(c, command, column(i), column(i + 1));
    if (!strip) return false;
    cut.strips.push_back(*strip);
  }
  return true;
}

/// Cuts what a command describes but for its width into one strip, or several; false where the
/// lanes do not take it.
bool set_strips_of(DepthwiseTiling& cut, const DepthwiseCommand& command,
                   const Geometry& geometry) {
  const Convolution& c = cut.convolution;
  cut.strips.clear();
  if (std::uint64_t{c.width} * command.dilation_height <= kLaneLineWords) {
    cut.strips.push_back({command, 0, 0});
    cut.strips[0].command.rows = block_rows(cut.plane_rows(), geometry.accumulator_rows);
  } else if (!set_strips(cut, command, geometry)) {
    return false;
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (std::max(cut.plane_rows(), cut.plane_words()) * command.count > kMost) return false;
  for (LanesStrip& strip : cut.strips) {
    set_steps(strip.command);
    // What is below 0 is large here.
    if (strip.command.row_step > kHalf || strip.command.image_step > kHalf) return false;
  }
  return true;
}

/// Do the lanes take longer than the tiles of the array, one for each tap of a plane? Strips of
/// dilated taps share most of their columns if they are narrow.
bool takes_longer_than_tiles(const DepthwiseTiling& cut, LaneSum sum) {
  const Convolution& c = cut.convolution;
  return sum == LaneSum::kProducts && cut.in_strips() &&
         cut.cycles() > c.taps() * c.out_pixels() * cut.command().count;
}

/// The sum of what each strip has.
template <class Value>
std::uint64_t sum_of(const DepthwiseTiling& cut, Value value) {
  std::uint64_t sum = 0;
  for (const LanesStrip& strip : cut.strips) sum += value(strip.command);
  return sum;
}

}  // namespace

std::uint64_t DepthwiseTiling::plane_rows() const {
  return sum_of(*this, [](const DepthwiseCommand& c) { return image_rows(c) * c.passes; });
}
std::uint64_t DepthwiseTiling::plane_words() const {
  return sum_of(*this, [](const DepthwiseCommand& c) { return image_words(c) * c.passes; });
}
std::uint64_t DepthwiseTiling::cycles() const {
  return sum_of(*this, [](const DepthwiseCommand& c) { return depthwise_cycles(c); });
}
std::uint64_t DepthwiseTiling::weight_words() const {
  return std::uint64_t{gemm64::weight_words(command())} * command().count;
}
std::uint32_t DepthwiseTiling::whole_blocks() const {
  return static_cast<std::uint32_t>(plane_rows() / command().rows);
}
std::uint32_t DepthwiseTiling::rest() const {
  return static_cast<std::uint32_t>(plane_rows() % command().rows);
}

std::uint64_t DepthwiseTiling::rows_before(std::uint64_t plane, std::uint64_t row) const {
  if (!in_strips()) return plane * plane_rows() + row;
  const std::uint64_t line = row / convolution.out_width, column = row % convolution.out_width;
  std::uint64_t before = 0;
  for (const LanesStrip& strip : strips) {
    const DepthwiseCommand& own = strip.command;
    const std::uint64_t lines = std::uint64_t{own.out_height} * own.passes;
    if (column < std::uint64_t{strip.out_column} + own.out_width) {
      return before + (plane * lines + line) * own.out_width + column - strip.out_column;
    }
    before += own.count * lines * own.out_width;
  }
  throw std::out_of_range("no strip has such a row");
}

std::optional<DepthwiseTiling> cut_for_lanes(const Convolution& given, const Geometry& geometry,
                                             LaneSum sum) {
  DepthwiseTiling cut;
  cut.convolution = given;
  cut.parameter_sets = geometry.parameter_sets;
  Convolution& c = cut.convolution;
  if (c.groups != c.channels || c.groups != c.out_channels || c.groups == 0) return std::nullopt;
  join_pixels(c);
  const bool whole_maps = takes_whole_maps(c, sum);
  cut.transposed = !whole_maps && c.width == 1 && c.out_width == 1;
  if (whole_maps) set_map_width(c);
  if (cut.transposed) transpose(c);
  const bool fits = c.width >= kLeastWidth && between(c.height, 1, kHalf) &&
                    between(c.out_height, 1, kHalf) && c.out_width != 0 &&
                    between(c.stride_height, 1, kByte) && between(c.stride_width, 1, kByte) &&
                    c.images != 0 && c.kernel_height != 0 && c.kernel_width != 0;
  if (!fits) return std::nullopt;
  DepthwiseCommand command;
  command.flags = sum == LaneSum::kMaximum ? flag::kMaximum : 0;
  command.height = c.height;
  command.width = c.width;
  command.zero = static_cast<std::uint8_t>(c.zero);
  command.passes = c.images;
  command.count = static_cast<std::uint32_t>(divide_up(c.channels, geometry.n));
  if (whole_maps) {
    if (!set_tiles(command) || !set_strips_of(cut, command, geometry)) return std::nullopt;
    return cut;
  }
  for (const std::uint32_t size : kKernels) {
    if (!set_windows(c, size, command)) continue;
    if (!set_strips_of(cut, command, geometry) || takes_longer_than_tiles(cut, sum)) break;
    return cut;
  }
  return std::nullopt;
}

std::vector<std::uint8_t> pack_lane_weights(const DepthwiseTiling& cut, const MatrixI8& weights,
                                            std::uint32_t n) {
  if ((cut.command().flags & flag::kAccumulate) != 0) {  // each pixel counts
    return std::vector<std::uint8_t>(cut.weight_words() * n, 1);
  }
  const Convolution& c = cut.convolution;
  const std::uint32_t size = cut.command().kernel_height;
  // Taps of the command's kernel from one of the convolution to the next.
  const std::uint32_t down = c.dilation_height / cut.command().dilation_height;
  const std::uint32_t right = c.dilation_width / cut.command().dilation_width;
  const std::uint64_t top = size - span(c.kernel_height, down);
  const std::uint64_t left = size - span(c.kernel_width, right);
  const bool pool = weights.cols() == 0;
  std::vector<std::uint8_t> packed(cut.weight_words() * n);
  // The taps in the order in which they were asked for.
  const std::uint32_t outer = cut.transposed ? c.kernel_width : c.kernel_height;
  const std::uint32_t inner = c.taps() / outer;
  for (std::uint32_t channel = 0; channel < c.channels; ++channel) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(weights.data()) +
                       static_cast<Eigen::Index>(channel) * weights.cols();
    std::uint8_t* const to =
        packed.data() + std::uint64_t{channel / n} * size * size * n + channel % n;
    for (std::uint32_t a = 0; a < outer; ++a) {
      for (std::uint32_t b = 0; b < inner; ++b) {
        const std::uint64_t i = cut.transposed ? b : a, j = cut.transposed ? a : b;
        const std::uint64_t row = top + i * down;
        const std::uint64_t column = left + j * right;
        to[(row * size + column) * n] = pool ? 1 : *from++;
      }
    }
  }
  return packed;
}

}  // namespace gemm64

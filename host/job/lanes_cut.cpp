// SPDX-License-Identifier: Apache-2.0
#include "host/job/lanes_cut.hpp"

#include <algorithm>
#include <limits>

#include "host/device/depthwise.hpp"
#include "host/divide.hpp"
#include "host/job/window_plan.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kByte = 0xff, kHalf = 0xffff;       // largest values of fields
constexpr std::uint32_t kLeastWidth = 2, kMostWidth = 128;  // of a row of words
constexpr std::uint32_t kKernels[] = {3, 5, 7};
constexpr std::uint32_t kLeast = 0x80;  // of the bytes with a sign
// Values of 8 bits whose sum a lane holds.
constexpr std::uint64_t kMostOfSum = std::uint64_t{1} << (kLaneSumBits - 8);

/// Rows and columns that taps span.
std::uint64_t span(std::uint32_t taps, std::uint32_t dilation) {
  return std::uint64_t{taps - 1} * dilation + 1;
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

/// Windows of 3 x 3 side by side, which add to one row; the last one ends on the map's last pixel.
bool set_tiles(DepthwiseCommand& command) {
  constexpr std::uint32_t kSide = 3;
  if (image_words(command) > kMostOfSum) return false;
  command.flags |= flag::kAccumulate;
  command.kernel_height = command.stride_height = command.stride_width = kSide;
  command.out_height = divide_up(command.height, kSide);
  command.out_width = divide_up(command.width, kSide);
  command.pad_top = command.out_height * kSide - command.height;
  command.pad_left = command.out_width * kSide - command.width;
  // What lies beyond the border counts nothing.
  command.zero = (command.flags & flag::kMaximum) != 0 ? kLeast : 0;
  return true;
}

/// The least kernel that holds a convolution's taps, these in its lower right corner.
bool set_windows(const Convolution& c, DepthwiseCommand& command) {
  const std::uint64_t high = span(c.kernel_height, c.dilation_height);
  const std::uint64_t wide = span(c.kernel_width, c.dilation_width);
  const auto* const kernel =
      std::find_if(std::begin(kKernels), std::end(kKernels),
                   [&](std::uint32_t size) { return size >= std::max(high, wide); });
  if (kernel == std::end(kKernels) || c.pad_top >= high || c.pad_left >= wide) return false;
  command.kernel_height = *kernel;
  command.stride_height = c.stride_height;
  command.stride_width = c.stride_width;
  command.pad_top = c.pad_top + *kernel - static_cast<std::uint32_t>(high);
  command.pad_left = c.pad_left + *kernel - static_cast<std::uint32_t>(wide);
  command.out_height = c.out_height;
  command.out_width = c.out_width;
  return true;
}

bool between(std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  return least <= value && value <= most;
}

}  // namespace

std::uint64_t LanesCut::plane_rows() const { return image_rows(command) * command.passes; }
std::uint64_t LanesCut::plane_words() const { return image_words(command) * command.passes; }
std::uint64_t LanesCut::weight_words() const {
  return std::uint64_t{gemm64::weight_words(command)} * command.count;
}
std::uint32_t LanesCut::whole_blocks() const {
  return static_cast<std::uint32_t>(plane_rows() / command.rows);
}
std::uint32_t LanesCut::rest() const {
  return static_cast<std::uint32_t>(plane_rows() % command.rows);
}

std::optional<LanesCut> cut_for_lanes(const Convolution& c, const Geometry& geometry, LaneSum sum) {
  if (c.groups != c.channels || c.groups != c.out_channels || c.groups == 0) return std::nullopt;
  const bool fits = between(c.width, kLeastWidth, kMostWidth) && between(c.height, 1, kHalf) &&
                    between(c.out_height, 1, kHalf) && between(c.out_width, 1, kHalf) &&
                    between(c.stride_height, 1, kByte) && between(c.stride_width, 1, kByte) &&
                    c.images != 0 && c.kernel_height != 0 && c.kernel_width != 0;
  if (!fits) return std::nullopt;
  LanesCut cut;
  cut.convolution = c;
  DepthwiseCommand& command = cut.command;
  command.flags = sum == LaneSum::kMaximum ? flag::kMaximum : 0;
  command.height = c.height;
  command.width = c.width;
  command.zero = static_cast<std::uint8_t>(c.zero);
  if (!(takes_whole_maps(c, sum) ? set_tiles(command) : set_windows(c, command))) {
    return std::nullopt;
  }
  command.passes = c.images;
  command.count = static_cast<std::uint32_t>(divide_up(c.channels, geometry.n));
  set_steps(command);
  // What is below 0 is large here.
  const bool steps = command.row_step <= kHalf && command.image_step <= kHalf;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const bool counts = std::max(cut.plane_rows(), cut.plane_words()) * command.count <= kMost;
  if (!steps || !counts) return std::nullopt;
  command.rows = block_rows(cut.plane_rows(), geometry.accumulator_rows);
  return cut;
}

std::vector<std::uint8_t> pack_lane_weights(const LanesCut& cut, const MatrixI8& weights,
                                            std::uint32_t n) {
  if ((cut.command.flags & flag::kAccumulate) != 0) {  // each pixel counts
    return std::vector<std::uint8_t>(cut.weight_words() * n, 1);
  }
  const Convolution& c = cut.convolution;
  const std::uint32_t size = cut.command.kernel_height;
  const std::uint64_t top = size - span(c.kernel_height, c.dilation_height);
  const std::uint64_t left = size - span(c.kernel_width, c.dilation_width);
  const bool pool = weights.cols() == 0;
  std::vector<std::uint8_t> packed(cut.weight_words() * n);
  for (std::uint32_t channel = 0; channel < c.channels; ++channel) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(weights.data()) +
                       static_cast<Eigen::Index>(channel) * weights.cols();
    std::uint8_t* const to =
        packed.data() + std::uint64_t{channel / n} * size * size * n + channel % n;
    for (std::uint32_t i = 0; i < c.kernel_height; ++i) {
      for (std::uint32_t j = 0; j < c.kernel_width; ++j) {
        const std::uint64_t row = top + std::uint64_t{i} * c.dilation_height;
        const std::uint64_t column = left + std::uint64_t{j} * c.dilation_width;
        to[(row * size + column) * n] = pool ? 1 : *from++;
      }
    }
  }
  return packed;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution, or a pool, as the depthwise unit runs it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/device/command_types.hpp"
#include "host/device/geometry.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/convolution.hpp"

namespace gemm64 {

/// What the lanes give of the values under a window.
enum class LaneSum { kProducts, kMaximum, kValues };

/// Columns of the output, as one DEPTHWISE over the input columns that they need.
struct LanesStrip {
  DepthwiseCommand command;
  std::uint32_t in_column = 0, out_column = 0;  // of the whole, with which it begins
};

/// One DEPTHWISE for all planes, or where rows are too wide for the lanes one for each strip. Its
/// kernel is the least square of 3, 5 or 7 that holds the convolution's taps, with dilations that
/// divide theirs; these lie in the lower right corner of it. Pools of whole maps add windows of 3 x
/// 3 next to each other.
struct DepthwiseTiling {
  /// As the lanes walk it: an image of one column is one row, and whole maps are as wide as the
  /// lanes take them.
  Convolution convolution;
  bool transposed = false;           // its rows are the columns of what was asked for
  std::vector<LanesStrip> strips;    // from left to right
  std::uint32_t parameter_sets = 0;  // that the device has room for
  /// Repetitions of each pixel in memory, in each direction.
  std::uint32_t repeat_height = 1, repeat_width = 1;

  std::uint32_t repeats() const { return repeat_height * repeat_width; }
  /// What all strips have in common, and all that there is where there is one.
  const DepthwiseCommand& command() const { return strips.front().command; }
  /// Is it cut into strips, or has it one that leaves out columns of the input? A block of results
  /// is then a row of a strip.
  bool in_strips() const {
    return strips.size() != 1 || strips.front().command.width != convolution.width;
  }
  /// Rows of sums that each plane gives.
  std::uint64_t plane_rows() const;
  /// Words of activations of each plane, as the lanes take them. Strips share some.
  std::uint64_t plane_words() const;
  /// Words of weights of all planes.
  std::uint64_t weight_words() const;
  /// Blocks of sums of a plane whose rows are command().rows, and the rows of the one after them;
  /// not of strips.
  std::uint32_t whole_blocks() const;
  std::uint32_t rest() const;
  /// Cycles in which the lanes do something.
  std::uint64_t cycles() const;
  /// Rows of sums that the lanes give before a row of a plane's.
  std::uint64_t rows_before(std::uint64_t plane, std::uint64_t row) const;
};

/// The cut of a convolution that has a group for each channel; nothing where the lanes have no room
/// for its kernel. Of a maximum `zero` is -128, so that nothing counts
/// beyond the border.
std::optional<DepthwiseTiling> cut_for_lanes(const Convolution& convolution,
                                             const Geometry& geometry, LaneSum sum);

/// W[channels x (tap rows, tap columns)] as words of n channels: [plane][tap row][tap column] of
/// the commands' kernel, zero where the convolution has no tap. A pool has none; its taps are ones.
std::vector<std::uint8_t> pack_lane_weights(const DepthwiseTiling& cut, const MatrixI8& weights,
                                            std::uint32_t n);

}  // namespace gemm64

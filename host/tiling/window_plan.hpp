// SPDX-License-Identifier: Apache-2.0
// A convolution cut into blocks of output pixels, with the input pixels that each of them needs
// beyond those before it, and the commands that run it. Tensors lie in planes of N channels:
// [plane][image][row][column][N bytes].
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host/device/command_types.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// A convolution over planes. Output pixel (y, x) and tap (i, j) meet the input pixel
/// (y * stride_height - pad_top + i * dilation_height, x * stride_width - pad_left + skip_left + j
/// * dilation_width), or the border.
struct Window {
  std::uint32_t images = 1;
  std::uint32_t height = 1, width = 1;          // of the input
  std::uint32_t out_height = 1, out_width = 1;  // of the output
  std::uint32_t kernel_height = 1, kernel_width = 1;
  std::uint32_t stride_height = 1, stride_width = 1;
  std::uint32_t dilation_height = 1, dilation_width = 1;
  std::uint32_t pad_top = 0, pad_left = 0;
  std::uint32_t skip_left = 0;       // columns of the input before what the first tap meets
  std::uint32_t planes = 1;          // of the input, those of all groups
  std::uint32_t group_planes = 1;    // that a pass reads; divides planes
  std::uint32_t group_passes = 1;    // passes (planes of the output) that read the same ones
  std::uint32_t missing_passes = 0;  // that the last group has fewer

  std::uint64_t pixels() const { return std::uint64_t{images} * height * width; }
  std::uint64_t out_pixels() const { return std::uint64_t{images} * out_height * out_width; }
  std::uint32_t passes() const { return planes / group_planes * group_passes - missing_passes; }
  /// Tiles of weights, in their order: [pass][plane of the pass][tap row][tap column].
  std::uint64_t tiles() const {
    return std::uint64_t{passes()} * group_planes * kernel_height * kernel_width;
  }
};

/// One block of output pixels. Pixels are counted over all images.
struct WindowBlock {
  std::uint64_t first = 0;        // output pixel
  std::uint32_t rows = 0;         // output pixels
  std::uint64_t first_pixel = 0;  // of the input: what is loaded for it begins here
  std::uint32_t new_pixels = 0;   // of each plane, perhaps none
  std::uint32_t freed_pixels = 0;

  std::uint64_t loaded() const { return first_pixel + new_pixels; }  // pixels, with it
};

/// How a convolution runs: the scratchpad holds `capacity` pixels of each plane, the first of them
/// in `first_slot`.
struct WindowPlan {
  Window window;
  std::uint32_t n = 0;  // of the array
  std::uint32_t capacity = 0;
  std::vector<WindowBlock> blocks;
  std::uint32_t first_slot = 0;
  bool starts = true;  // its first pixels come when none of another convolution is kept
  /// Blocks of a band. In each band a pass takes all blocks before the next pass does, so that its
  /// tiles are loaded once for all of them; the pixels of the whole band are kept until then.
  std::uint32_t band = 1;
  /// All blocks are one band of which only a block's pixels are kept: each pass loads them again.
  bool reads_again = false;
  std::uint32_t bank_rows = 0;  // of the accumulator; a block of more fills both banks

  /// Returns the slot of a pass's pixel that has this one in the first pass.
  std::uint32_t slot_in(std::uint32_t pass, std::uint64_t slot) const;
  /// Returns the block and the pass of a MATMUL, counted from 0, of a plan in bands.
  std::pair<std::uint64_t, std::uint32_t> place_in_bands(std::uint64_t matmul) const;
  /// Does a block fill both banks? Each pass has a MATMUL of its own then.
  bool fills_both_banks() const;
  std::uint64_t bands() const { return (blocks.size() + band - 1) / band; }
  /// Words of activations that are loaded, each once, or once for each pass.
  std::uint64_t loaded_words() const;
};

/// The most rows, up to `most`, of which the fewest blocks are about equal.
std::uint32_t balanced_rows(std::uint64_t out_pixels, std::uint32_t most);

/// Cuts the convolution into blocks of `block_rows` output pixels, the last one of the rest. Throws
/// UsageError if a size does not fit its field of a command, if block_rows is not from 1 to
/// the rows of both banks, and if the input rows that a block needs do not fit the scratchpad.
WindowPlan plan_window(const Window& window, std::uint32_t block_rows, const Geometry& geometry);

/// The same in blocks of these heights, which add up to the output.
WindowPlan plan_window(const Window& window, const std::vector<std::uint32_t>& block_rows,
                       const Geometry& geometry);

/// SET_WINDOW; `zero` is the value beyond the border.
SetWindowCommand set_window(const WindowPlan& plan, std::int8_t zero);

/// What brings the new pixels of a block, of `planes` planes from `plane` on, from the tensor at
/// `address`, of that many pixels a plane (0: those of the window); plane 0 comes first. `start`
/// marks the first command of a convolution. `pass`: of a plan that reads again.
LoadActivationsCommand load_window(const WindowPlan& plan, const WindowBlock& block,
                                   std::uint32_t plane, std::uint32_t planes, std::uint64_t address,
                                   bool start, std::uint64_t plane_pixels = 0,
                                   std::uint32_t pass = 0);

/// The block's MATMUL.
MatmulCommand matmul_window(const WindowPlan& plan, const WindowBlock& block);

/// The same of one pass. The first one claims the block's pixels, the last one frees them, or each
/// does so if it reads them again.
MatmulCommand matmul_window(const WindowPlan& plan, const WindowBlock& block, std::uint32_t pass);

}  // namespace gemm64

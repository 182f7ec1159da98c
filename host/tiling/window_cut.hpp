// SPDX-License-Identifier: Apache-2.0
// How a convolution is cut for the array: into blocks of output pixels, and into strips where its
// rows do not fit the scratchpad.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/tiling/convolution.hpp"
#include "host/tiling/memory_rate.hpp"
#include "host/tiling/window_plan.hpp"

namespace gemm64 {

/// Columns of a convolution's output, as a convolution of their own over the input columns that
/// they need. Each block is a row of it where there are several, or columns of the input that none
/// needs.
struct WindowStrip {
  WindowPlan plan;
  std::uint32_t out_column = 0;  // of the whole output, with which it begins
  std::uint32_t in_column = 0;   // of the whole input
};

/// All strips of a convolution, from left to right; mostly one.
struct WindowCut {
  Convolution convolution;
  Window window;  // of the whole
  std::vector<WindowStrip> strips;

  /// Is it cut into strips, or has it one that leaves out columns of the input?
  bool in_strips() const {
    return strips.size() != 1 || strips[0].plan.window.width != window.width;
  }
  std::uint64_t blocks() const;
  /// Bands of blocks, each of which takes all weights.
  std::uint64_t bands() const;
  /// Words of activations that are loaded. Strips share columns of the input.
  std::uint64_t loaded_words() const;
};

/// Cuts a convolution so that it takes the fewest cycles: into as few and as equal blocks as the
/// accumulator allows, into more where the input of two of them does not fit the scratchpad, so
/// that one is loaded while the other is read, and into strips where not even one fits. Throws
/// UsageError if a size does not fit a command, or the input of a single output pixel not the
/// scratchpad. Blocks are joined in bands where the memory's rate makes loading weights less often
/// worth it.
WindowCut cut_convolution(const Convolution& convolution, const Geometry& geometry,
                          const MemoryRate& rate = {});

/// Can a convolution's tiles of a pass stay in the weight buffer while other blocks take them?
bool keeps_pass(const Window& window, const Geometry& geometry);

/// Makes each pass read the pixels again, if the weights are loaded once then and that takes less
/// time, with pixels that come from the tensor memory. Requires that results are whole channel
/// blocks.
void read_for_each_pass(WindowPlan& plan, const Geometry& geometry);

/// Makes blocks fill both banks of the accumulator, if that takes less time at the memory's rate.
void fill_both_banks(WindowPlan& plan, const Geometry& geometry, const MemoryRate& rate);

/// The least capacity at which the pixels of a block, or band, are loaded while the one before it
/// is read.
std::uint64_t roomy_capacity(const WindowPlan& plan);

/// Cycles of only a block's tiles.
std::uint64_t block_cycles(const WindowPlan& plan, const WindowBlock& block);

}  // namespace gemm64

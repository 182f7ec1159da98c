// SPDX-License-Identifier: Apache-2.0
#include "host/job/window_cut.hpp"

#include <algorithm>
#include <utility>

namespace gemm64 {

std::uint64_t WindowCut::blocks() const {
  std::uint64_t blocks = 0;
  for (const WindowStrip& strip : strips) blocks += strip.plan.blocks.size();
  return blocks;
}

std::uint64_t WindowCut::loaded_words() const {
  std::uint64_t words = 0;
  for (const WindowStrip& strip : strips) words += strip.plan.loaded_words();
  return words;
}

WindowCut cut_convolution(const Convolution& convolution, const Geometry& geometry) {
  WindowCut cut{convolution, window_of(convolution, geometry.n), {}};
  const std::uint32_t rows = balanced_rows(cut.window.out_pixels(), geometry.accumulator_rows);
  cut.strips.push_back({plan_window(cut.window, rows, geometry), 0, 0});
  return cut;
}

}  // namespace gemm64

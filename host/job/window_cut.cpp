// SPDX-License-Identifier: Apache-2.0
#include "host/job/window_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "host/error.hpp"

namespace gemm64 {
namespace {

// Clocks from the end of a block to the first word of pixels that had no room before: those that a
// memory usually takes to answer, and some.
constexpr std::uint64_t kRefill = 120;

/// Heights of so many blocks, which differ by one at most.
std::vector<std::uint32_t> heights(std::uint64_t rows, std::uint64_t blocks) {
  std::vector<std::uint32_t> heights(blocks, static_cast<std::uint32_t>(rows / blocks));
  std::fill_n(heights.begin(), rows % blocks, static_cast<std::uint32_t>(rows / blocks + 1));
  return heights;
}

std::optional<WindowPlan> try_plan(const Window& window, const std::vector<std::uint32_t>& rows,
                                   const Geometry& geometry) {
  try {
    return plan_window(window, rows, geometry);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// Clocks in which the array waits, where a block's pixels come only after the block before it.
std::uint64_t refills(const WindowPlan& plan) {
  if (roomy_capacity(plan) <= plan.capacity) return 0;
  std::uint64_t clocks = 0, freed = 0;
  for (std::size_t i = 1; i < plan.blocks.size(); ++i) {
    const WindowBlock& block = plan.blocks[i];
    if (block.new_pixels != 0 && block.loaded() - freed > plan.capacity) {
      clocks += kRefill + block.new_pixels;
    }
    freed += plan.blocks[i - 1].freed_pixels;
  }
  return clocks;
}

std::uint64_t clocks_of(const WindowPlan& plan) {
  std::uint64_t clocks = refills(plan);
  for (const WindowBlock& block : plan.blocks) clocks += block_clocks(plan, block) + 1;
  return clocks;
}

/// The next number of pieces to try: one more, or an eighth more where there are many.
std::uint64_t more(std::uint64_t pieces) { return pieces + 1 + pieces / 8; }

/// The whole width in the blocks that take the fewest clocks; none where none fit.
std::optional<WindowPlan> cut_rows(const Window& window, const Geometry& geometry) {
  const std::uint64_t rows = window.out_pixels();
  std::optional<WindowPlan> best;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t blocks = (rows + geometry.accumulator_rows - 1) / geometry.accumulator_rows;
       blocks <= rows; blocks = more(blocks)) {
    // Low blocks waste clocks, the more of them the more.
    if (best && window.tiles() * geometry.n * blocks >= fewest) break;
    std::optional<WindowPlan> plan = try_plan(window, heights(rows, blocks), geometry);
    if (!plan) continue;
    const std::uint64_t clocks = clocks_of(*plan);
    const bool waits = refills(*plan) != 0;
    if (clocks < fewest) {
      fewest = clocks;
      best = std::move(plan);
    }
    if (!waits) break;
  }
  return best;
}

/// Output columns from `first` on, as a convolution of their own.
WindowStrip strip_of(const Window& whole, std::uint32_t first, std::uint32_t columns) {
  const auto met = [&whole](std::uint32_t column) {  // by the first tap
    return std::int64_t{column} * whole.stride_width - whole.pad_left;
  };
  const std::int64_t span = std::int64_t{whole.kernel_width - 1} * whole.dilation_width + 1;
  const std::int64_t begin = std::clamp<std::int64_t>(met(first), 0, whole.width - 1);
  const std::int64_t end =
      std::clamp<std::int64_t>(met(first + columns - 1) + span, begin + 1, whole.width);
  WindowStrip strip;
  strip.out_column = first;
  strip.in_column = static_cast<std::uint32_t>(begin);
  Window& w = strip.plan.window;
  w = whole;
  w.width = static_cast<std::uint32_t>(end - begin);
  w.out_width = columns;
  w.pad_left = static_cast<std::uint32_t>(std::max<std::int64_t>(begin - met(first), 0));
  w.skip_left = static_cast<std::uint32_t>(std::max<std::int64_t>(met(first) - begin, 0));
  return strip;
}

std::optional<std::vector<WindowStrip>> cut_strips(const Window& window, std::uint64_t count,
                                                   const Geometry& geometry) {
  std::vector<WindowStrip> strips;
  std::uint32_t first = 0;
  for (const std::uint32_t columns : heights(window.out_width, count)) {
    WindowStrip strip = strip_of(window, first, columns);
    const std::vector<std::uint32_t> rows(std::uint64_t{window.images} * window.out_height,
                                          columns);
    std::optional<WindowPlan> plan = try_plan(strip.plan.window, rows, geometry);
    if (!plan) return std::nullopt;
    strip.plan = std::move(*plan);
    strips.push_back(std::move(strip));
    first += columns;
  }
  return strips;
}

}  // namespace

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

std::uint64_t roomy_capacity(const WindowPlan& plan) {
  std::uint64_t most = 0, freed = 0;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const std::size_t next = std::min(i + 1, plan.blocks.size() - 1);
    most = std::max(most, plan.blocks[next].loaded() - freed);
    freed += plan.blocks[i].freed_pixels;
  }
  return most;
}

std::uint64_t block_clocks(const WindowPlan& plan, const WindowBlock& block) {
  return plan.window.tiles() * std::max(block.rows, plan.n);
}

WindowCut cut_convolution(const Convolution& convolution, const Geometry& geometry) {
  WindowCut cut{convolution, window_of(convolution, geometry.n), {}};
  const Window& w = cut.window;
  plan_window(w, std::vector<std::uint32_t>{}, geometry);  // throws where a size fits no command
  if (std::optional<WindowPlan> plan = cut_rows(w, geometry)) {
    cut.strips.push_back({std::move(*plan), 0, 0});
    return cut;
  }
  for (std::uint64_t count =
           (w.out_width + geometry.accumulator_rows - 1) / geometry.accumulator_rows;
       count <= w.out_width;
       count = count < w.out_width ? std::min<std::uint64_t>(more(count), w.out_width)
                                   : count + 1) {
    if (auto strips = cut_strips(w, count, geometry)) {
      cut.strips = std::move(*strips);
      return cut;
    }
  }
  throw UsageError(fmt::format(
      "a {} does not fit the scratchpad of {} words: one output pixel alone meets {} rows of {} "
      "planes of {} channels",
      to_string(convolution), geometry.scratchpad_words,
      std::min<std::uint64_t>(w.height, std::uint64_t{w.kernel_height - 1} * w.dilation_height + 1),
      w.planes, geometry.n));
}

}  // namespace gemm64

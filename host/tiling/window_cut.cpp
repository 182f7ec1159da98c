// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/window_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "host/device/registers.hpp"
#include "host/device/result_format.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

// Cycles from the end of a block to the first word of pixels that had no room before: those that a
// memory usually takes to answer, and some.
constexpr std::uint64_t kRefill = 120;

// Cycles that a layer in bands loses because it has no overlaps with those before and after it.
constexpr double kNoOverlap = 1000;

/// Heights of that many blocks, which differ by one at most.
std::vector<std::uint32_t> heights(std::uint64_t rows, std::uint64_t blocks) {
  std::vector<std::uint32_t> heights(blocks, static_cast<std::uint32_t>(rows / blocks));
  std::fill_n(heights.begin(), rows % blocks, static_cast<std::uint32_t>(rows / blocks + 1));
  return heights;
}

/// The most pixels of a plane that are kept at once, if those of `ahead` blocks after a band come
/// before it ends.
std::uint64_t kept_pixels(const WindowPlan& plan, std::size_t ahead) {
  std::uint64_t most = 0, freed = 0;
  const std::size_t band = plan.reads_again ? 1 : plan.band;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const std::size_t end = i / band * band + band;
    const std::size_t last = std::min(end - 1 + ahead, plan.blocks.size() - 1);
    most = std::max(most, plan.blocks[last].loaded() - freed);
    freed += plan.blocks[i].freed_pixels;
  }
  return most;
}

std::optional<WindowPlan> try_plan(const Window& window, const std::vector<std::uint32_t>& rows,
                                   const Geometry& geometry) {
  try {
    return plan_window(window, rows, geometry);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// Cycles in which the array waits, where a block's pixels come only after the block before it.
std::uint64_t refills(const WindowPlan& plan) {
  if (roomy_capacity(plan) <= plan.capacity) return 0;
  std::uint64_t cycles = 0, freed = 0;
  for (std::size_t i = 1; i < plan.blocks.size(); ++i) {
    const WindowBlock& block = plan.blocks[i];
    if (block.new_pixels != 0 && block.loaded() - freed > plan.capacity) {
      cycles += kRefill + block.new_pixels;
    }
    freed += plan.blocks[i - 1].freed_pixels;
  }
  return cycles;
}

std::uint64_t cycles_of(const WindowPlan& plan) {
  std::uint64_t cycles = refills(plan);
  for (const WindowBlock& block : plan.blocks) cycles += block_cycles(plan, block) + 1;
  return cycles;
}

/// The next number of pieces to try: one more, or an eighth more where there are many.
std::uint64_t more(std::uint64_t pieces) { return pieces + 1 + pieces / 8; }

/// The whole width in the blocks that take the fewest cycles; none where none fit.
std::optional<WindowPlan> cut_rows(const Window& window, const Geometry& geometry) {
  const std::uint64_t rows = window.out_pixels();
  std::optional<WindowPlan> best;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t blocks = (rows + geometry.accumulator_rows - 1) / geometry.accumulator_rows;
       blocks <= rows; blocks = more(blocks)) {
    // Low blocks waste cycles, the more of them the more.
    if (best && window.tiles() * geometry.n * blocks >= fewest) break;
    std::optional<WindowPlan> plan = try_plan(window, heights(rows, blocks), geometry);
    if (!plan) continue;
    const std::uint64_t cycles = cycles_of(*plan);
    const bool waits = refills(*plan) != 0;
    if (cycles < fewest) {
      fewest = cycles;
      best = std::move(plan);
    }
    if (!waits) break;
  }
  return best;
}

/// Cycles of the array.
std::uint64_t busy_cycles(const WindowPlan& plan) {
  std::uint64_t busy = 0;
  for (const WindowBlock& block : plan.blocks) busy += block_cycles(plan, block);
  return busy;
}

/// The larger of the array's cycles and those of the memory, at its rate.
double cycles_at(const MemoryRate& rate, const WindowPlan& plan, std::uint64_t commands) {
  const Window& w = plan.window;
  const std::uint64_t word = plan.n;
  const std::uint64_t others = (plan.loaded_words() + w.out_pixels() * w.passes() +
                                plan.blocks.size() * w.passes() * kParameterSetWords) *
                                   word +
                               commands * kCommandBytes;
  const double moved = rate.cycles(plan.bands() * w.tiles() * word * word, others, plan.n);
  return std::max(static_cast<double>(busy_cycles(plan)), moved);
}

/// Joins blocks in as few bands as fit, if weights that are loaded once for each band take less
/// time than weights for each block.
void join_blocks(WindowPlan& plan, const Geometry& geometry, const MemoryRate& rate) {
  const Window& w = plan.window;
  if (!keeps_pass(w, geometry) || plan.blocks.size() == 1) return;
  WindowPlan joined = plan;
  for (std::uint64_t bands = 1; bands < plan.blocks.size(); ++bands) {
    joined.band = static_cast<std::uint32_t>((plan.blocks.size() + bands - 1) / bands);
    if (kept_pixels(joined, 0) > plan.capacity) continue;
    const std::uint64_t commands = (plan.blocks.size() + 3 * joined.bands()) * w.passes();
    if (cycles_at(rate, joined, commands) + kNoOverlap < cycles_at(rate, plan, 0)) {
      plan.band = joined.band;
    }
    return;
  }
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

std::uint64_t WindowCut::bands() const {
  std::uint64_t bands = 0;
  for (const WindowStrip& strip : strips) bands += strip.plan.bands();
  return bands;
}

std::uint64_t WindowCut::loaded_words() const {
  std::uint64_t words = 0;
  for (const WindowStrip& strip : strips) words += strip.plan.loaded_words();
  return words;
}

bool keeps_pass(const Window& w, const Geometry& geometry) {
  // A MATMUL of one pass begins with plane 0, which not all groups read.
  if (w.planes != w.group_planes || w.passes() == 1) return false;
  // A burst may bring words of the next pass, which have no space to wait for then.
  const std::uint64_t burst = geometry.weight_burst_beats();
  const std::uint64_t beyond = geometry.n % burst == 0 ? 0 : burst - 1;
  const std::uint64_t buffer = std::uint64_t{geometry.weight_tiles} * geometry.n;
  if (w.tiles() / w.passes() * geometry.n + beyond > buffer) return false;
  return w.tiles() > geometry.weight_tiles;  // else all are retained
}

void read_for_each_pass(WindowPlan& plan, const Geometry& geometry) {
  if (plan.bands() == 1 || !keeps_pass(plan.window, geometry)) return;
  const double quarter = geometry.n / 4.0;  // bytes of memory in a cycle
  const std::uint64_t busy = busy_cycles(plan), tiles = plan.window.tiles();
  const auto cycles = [&](std::uint64_t loads, std::uint64_t words) {
    const auto bytes = static_cast<double>(loads * tiles * geometry.n * geometry.n);
    return std::max(static_cast<double>(std::max(busy, words)), bytes / quarter);
  };
  const std::uint64_t words = plan.loaded_words();
  if (cycles(1, words * plan.window.passes()) >= cycles(plan.bands(), words)) return;
  plan.band = static_cast<std::uint32_t>(plan.blocks.size());
  plan.reads_again = true;
}

void fill_both_banks(WindowPlan& plan, const Geometry& geometry, const MemoryRate& rate) {
  const Window& w = plan.window;
  if (w.planes != w.group_planes || plan.bands() != plan.blocks.size()) return;
  const std::uint64_t rows = w.out_pixels(), most = 2 * std::uint64_t{geometry.accumulator_rows};
  for (std::uint64_t blocks = (rows + most - 1) / most; blocks < plan.blocks.size(); ++blocks) {
    std::optional<WindowPlan> filled = try_plan(w, heights(rows, blocks), geometry);
    if (!filled) continue;
    const double waits = static_cast<double>(refills(*filled)) + kNoOverlap;
    const std::uint64_t commands = blocks * 4 * w.passes();
    if (cycles_at(rate, *filled, commands) + waits < cycles_at(rate, plan, 0)) {
      plan = *std::move(filled);
    }
    return;
  }
}

std::uint64_t roomy_capacity(const WindowPlan& plan) { return kept_pixels(plan, 1); }

std::uint64_t block_cycles(const WindowPlan& plan, const WindowBlock& block) {
  return plan.window.tiles() * std::max(block.rows, plan.n);
}

WindowCut cut_convolution(const Convolution& convolution, const Geometry& geometry,
                          const MemoryRate& rate) {
  WindowCut cut{convolution, window_of(convolution, geometry.n), {}};
  const Window& w = cut.window;
  Geometry largest = geometry;
  largest.scratchpad_words = w.planes * std::numeric_limits<std::uint16_t>::max();
  plan_window(w, std::vector<std::uint32_t>{}, largest);  // throws if a size fits no command
  if (std::optional<WindowPlan> plan = cut_rows(w, geometry)) {
    join_blocks(*plan, geometry, rate);
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
  std::string remedy;
  if (const auto strips = cut_strips(w, w.out_width, largest)) {
    std::uint64_t words = 0;
    for (const WindowStrip& strip : *strips) {
      const std::uint64_t step = std::max(w.stride_width, w.dilation_width);
      words = std::max(words, w.planes * std::max(kept_pixels(strip.plan, 0), step));
    }
    remedy = fmt::format(", which take {} bytes; a scratchpad of {} words is enough",
                         words * geometry.n, words);
  }
  throw UsageError(fmt::format(
      "a {} does not fit the scratchpad of {} words: a single output pixel meets {} rows of {} "
      "planes of {} channels{}",
      to_string(convolution), geometry.scratchpad_words,
      std::min<std::uint64_t>(w.height, std::uint64_t{w.kernel_height - 1} * w.dilation_height + 1),
      w.planes, geometry.n, remedy));
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "host/device/registers.hpp"
#include "host/tiling/program.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

std::uint32_t command_count(const char* what, std::uint64_t value) {
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError(fmt::format("the product needs {} {}; a command holds at most {}", value, what,
                                 std::numeric_limits<std::uint32_t>::max()));
  }
  return static_cast<std::uint32_t>(value);
}

/// Throws UsageError where results of 8 bits cannot be made so.
void check_output(const Output& output, Accumulate accumulate) {
  if (!output.format.takes_parameters()) return;
  if (accumulate == Accumulate::kHost) {
    throw UsageError("8-bit results need whole sums; the device must accumulate");
  }
  const int least = output.format.least(), largest = output.format.largest();
  for (const auto& [name, value] : {std::pair{"zero point", output.zero},
                                    {"lower bound", output.low},
                                    {"upper bound", output.high}}) {
    if (value < least || value > largest) {
      throw UsageError(fmt::format("the {} of 8-bit results is {}; it must be from {} to {}", name,
                                   value, least, largest));
    }
  }
  if (output.low > output.high) {
    throw UsageError(fmt::format("the lower bound of 8-bit results, {}, is above the upper, {}",
                                 output.low, output.high));
  }
}

/// The most rows, up to `most`, that are a whole part of `rows`.
std::uint32_t whole_part(std::uint64_t rows, std::uint32_t most) {
  std::uint64_t part = std::min<std::uint64_t>(rows, most);
  while (rows % part != 0) --part;
  return static_cast<std::uint32_t>(part);
}

/// Throws UsageError where only the lanes can make such results.
void check_no_images(const Output& output) {
  if (output.operand_images == 1) return;
  throw UsageError("the array takes no second operand for each image");
}

}  // namespace

ResultFormat Output::stored() const {
  if (!vector || vector->result_moved == 0) return format;
  return ResultFormat(format.is_signed() ? ResultCode::kUint8 : ResultCode::kInt8);
}

std::pair<std::uint32_t, std::uint32_t> Plan::lanes_of(std::uint32_t tile) const {
  const std::uint64_t begin = std::uint64_t{tile} * array;
  const std::uint64_t end = std::min(begin + array, first_lane() + shape.n) - begin;
  return {tile == 0 ? first_lane() : 0, static_cast<std::uint32_t>(end)};
}

bool Plan::has_one_set_of_lanes() const {
  if (!output.part || !output.part->has_shared_tiles(shape.n, array)) return true;
  for (std::uint32_t tile = 1; tile < n_tiles; ++tile) {
    if (lanes_of(tile) != lanes_of(0)) return false;
  }
  return true;
}

std::uint64_t Plan::row_blocks() const {
  std::uint64_t blocks = 0;
  for (const RowGroup& group : groups) blocks += group.blocks;
  return blocks;
}

std::uint64_t Plan::stored_blocks() const {
  std::uint64_t blocks = 0;
  for (const RowGroup& group : groups) {
    blocks += std::uint64_t{group.blocks} * (group.rows > bank_rows() ? 2 : 1);
  }
  return blocks;
}

std::uint64_t Plan::weight_loads() const {
  if (lanes) return lanes->strips.size();
  if (retains_weights) return window ? 1 : groups.size();
  return window ? window->bands() : row_blocks();
}

Plan make_plan(const GemmShape& shape, Accumulate accumulate, const Geometry& geometry,
               const Output& output, std::uint32_t products) {
  // The largest size whose byte counts cannot overflow 64 bits below.
  constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 31;
  const auto check = [kMaxSize](const char* name, std::uint64_t size) {
    if (size == 0 || size > kMaxSize) {
      throw UsageError(fmt::format("{} is {}; it must be from 1 to {}", name, size, kMaxSize));
    }
  };
  check("M", shape.m);
  check("K", shape.k);
  check("N", shape.n);
  if (products == 0 || shape.m % products != 0) {
    throw std::invalid_argument(
        fmt::format("{} products cannot have {} rows of one height", products, shape.m));
  }

  check_output(output, accumulate);
  check_no_images(output);

  Plan plan;
  plan.shape = shape;
  plan.output = output;
  plan.accumulate = accumulate;
  plan.array = geometry.n;
  plan.tensor_memory = geometry.tensor_memory;
  plan.products = products;
  plan.k_tiles = static_cast<std::uint32_t>(divide_up(shape.k, geometry.n));
  plan.n_tiles = static_cast<std::uint32_t>(divide_up(plan.first_lane() + shape.n, geometry.n));
  command_count("words of weights", plan.tiles() * geometry.n);
  command_count("words of parameters", plan.parameter_set_bytes() / geometry.n);

  // In addition to a tile's rows the scratchpad must hold one more burst, or the two wait for each
  // other.
  const std::uint64_t max_rows = std::min<std::uint64_t>(
      geometry.accumulator_rows, geometry.scratchpad_words - geometry.burst_beats + 1);
  const std::uint64_t rows_of_each = plan.product_rows();
  const std::uint64_t blocks = divide_up(rows_of_each, max_rows);
  const std::uint64_t low = rows_of_each / blocks;
  const std::uint64_t high_blocks = rows_of_each % blocks;  // blocks that have one row more
  std::uint64_t row = 0;
  const auto add_group = [&](std::uint64_t rows, std::uint64_t count) {
    if (count == 0) return;
    const std::uint64_t words = rows * plan.k_tiles;
    command_count("words of activations in a block", words);
    plan.groups.push_back({row, static_cast<std::uint32_t>(rows),
                           command_count("blocks of rows", count),
                           words <= geometry.scratchpad_words});
    row += rows * count;
  };
  for (std::uint32_t i = 0; i < products; ++i) {
    add_group(low + 1, high_blocks);
    add_group(low, blocks - high_blocks);
  }
  plan.retains_weights = blocks > 1 && plan.tiles() <= geometry.weight_tiles;
  return plan;
}

void set_window(Plan& plan, WindowCut window) {
  plan.groups.clear();
  for (const WindowStrip& strip : window.strips) {
    const Window& w = strip.plan.window;
    for (const WindowBlock& block : strip.plan.blocks) {
      // Blocks of a strip are rows of it.
      const std::uint64_t first = block.first / w.out_width * window.window.out_width +
                                  block.first % w.out_width + strip.out_column;
      RowGroup* const last = plan.groups.empty() ? nullptr : &plan.groups.back();
      if (last != nullptr && last->rows == block.rows &&
          last->first_row + std::uint64_t{last->rows} * last->blocks == first) {
        ++last->blocks;
      } else {
        plan.groups.push_back({first, block.rows, 1, true});
      }
    }
  }
  plan.window = std::move(window);
}

Plan make_plan(const Convolution& convolution, const Geometry& geometry, const Output& output,
               const MemoryRate& rate) {
  check_output(output, Accumulate::kDevice);
  check_no_images(output);
  Plan plan;
  plan.shape = {convolution.out_pixels(),
                std::uint64_t{convolution.group_channels()} * convolution.taps(),
                convolution.out_channels};
  plan.output = output;
  plan.array = geometry.n;
  plan.tensor_memory = geometry.tensor_memory;
  // Lanes ahead of the first column compute nothing.
  Convolution shifted = convolution;
  shifted.out_channels += plan.first_lane();
  if (plan.first_lane() != 0 && convolution.groups != 1) {
    throw UsageError("results of groups cannot begin between two tiles");
  }
  WindowCut cut = cut_convolution(shifted, geometry, rate);
  plan.n_tiles = cut.window.passes();
  plan.k_tiles = command_count("tiles in a pass", cut.window.tiles() / plan.n_tiles);
  command_count("words of weights", plan.tiles() * geometry.n);
  // STOREs of other lanes for each tile, a block each, would wait ahead of a band's MATMULs.
  if (!plan.has_one_set_of_lanes()) {
    for (WindowStrip& strip : cut.strips) strip.plan.band = 1;
  }
  set_window(plan, std::move(cut));
  plan.retains_weights = plan.row_blocks() > 1 && plan.tiles() <= geometry.weight_tiles;
  fill_both_banks(plan, geometry, rate);
  return plan;
}

void fill_both_banks(Plan& plan, const Geometry& geometry, const MemoryRate& rate) {
  if (!plan.window || plan.window->in_strips() || plan.retains_weights) return;
  if (!plan.has_one_set_of_lanes()) return;
  WindowCut cut = *std::move(plan.window);
  fill_both_banks(cut.strips[0].plan, geometry, rate);
  set_window(plan, std::move(cut));
}

void read_for_each_pass(Plan& plan, const Geometry& geometry) {
  if (!plan.window || plan.window->in_strips() || plan.retains_weights) return;
  if (plan.has_one_set_of_lanes()) read_for_each_pass(plan.window->strips[0].plan, geometry);
}

std::optional<Plan> make_lanes_plan(const Convolution& convolution, const Geometry& geometry,
                                    const Output& output, LaneSum sum) {
  check_output(output, Accumulate::kDevice);
  if (output.part && output.part->first_lane(geometry.n) != 0) return std::nullopt;
  std::optional<DepthwiseTiling> cut = cut_for_lanes(convolution, geometry, sum);
  if (!cut) return std::nullopt;
  if (output.operand_images != 1) {
    if (output.operand_images != convolution.images) {
      throw UsageError(fmt::format("second operands for {} images; there are {}",
                                   output.operand_images, convolution.images));
    }
    if (!cut->in_strips()) {
      cut->strips[0].command.rows =
          whole_part(cut->plane_rows() / convolution.images, geometry.accumulator_rows);
    }
  }
  Plan plan;
  const std::uint32_t taps = sum == LaneSum::kProducts ? convolution.taps() : 0;
  plan.shape = {convolution.out_pixels(), taps, convolution.out_channels};
  plan.output = output;
  plan.array = geometry.n;
  plan.tensor_memory = geometry.tensor_memory;
  plan.n_tiles = cut->command().count;
  if (cut->in_strips()) {
    for (const LanesStrip& strip : cut->strips) {
      const DepthwiseCommand& own = strip.command;
      plan.groups.push_back({strip.out_column, own.rows, own.out_height * own.passes, true,
                             cut->convolution.out_width});
    }
  } else {
    const std::uint32_t blocks = cut->whole_blocks(), rest = cut->rest();
    plan.groups.push_back({0, cut->command().rows, blocks, true});
    if (rest != 0) plan.groups.push_back({plan.shape.m - rest, rest, 1, true});
  }
  plan.lanes = std::move(cut);
  return plan;
}

Traffic predict_traffic(const Plan& plan) {
  Traffic traffic;
  traffic.weights = plan.weight_set_bytes() * plan.weight_loads();
  if (plan.lanes) traffic.activations = plan.lanes->plane_words() * plan.n_tiles * plan.array;
  if (plan.window) traffic.activations = plan.window->loaded_words() * plan.array;
  for (const RowGroup& group : plan.groups) {
    if (plan.convolution() != nullptr) break;
    const std::uint64_t once = std::uint64_t{group.rows} * group.blocks * plan.k_tiles * plan.array;
    traffic.activations += group.retain ? once : once * plan.n_tiles;
  }
  traffic.parameters = plan.parameter_set_bytes() * plan.stored_blocks();
  traffic.results = plan.result_bytes();
  traffic.operands = plan.table_bytes() + (plan.output.broadcasts()
                                               ? plan.stored_blocks() * plan.n_tiles * plan.array
                                               : plan.operand_bytes());
  traffic.commands = program_length(plan) * kCommandBytes;
  return traffic;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/tiling/job_commands.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMaxRing = 65536;

std::uint32_t count_of(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

LoadWeightsCommand load_weights(const Plan& plan, const Layout& layout, const RowGroup& group) {
  LoadWeightsCommand load;
  load.count = count_of(plan.tiles() * plan.array);
  load.passes = plan.retains_weights ? 1 : group.blocks;
  load.address = layout.weights + plan.product_of(group.first_row) * plan.weight_set_bytes();
  return load;
}

LoadActivationsCommand load_activations(const Plan& plan, const Layout& layout,
                                        const RowGroup& group) {
  LoadActivationsCommand load;
  load.rows = group.rows;
  load.count = plan.k_tiles;
  load.passes = group.retain ? 1 : plan.n_tiles;
  load.blocks = group.blocks;
  load.address = layout.activations + group.first_row * plan.array;
  load.stride = count_of(plan.shape.m);
  return load;
}

MatmulCommand matmul(const Plan& plan, const RowGroup& group) {
  MatmulCommand matmul;
  matmul.flags = (plan.accumulate == Accumulate::kDevice ? flag::kAccumulate : 0) |
                 (group.retain ? flag::kRetain : 0) |
                 (plan.retains_weights && group.blocks > 1 ? flag::kRetainWeights : 0);
  matmul.rows = group.rows;
  matmul.count = plan.k_tiles;
  matmul.passes = plan.n_tiles;
  matmul.blocks = group.blocks;
  return matmul;
}

LoadParametersCommand load_parameters(const Plan& plan, const Layout& layout,
                                      const RowGroup& group) {
  LoadParametersCommand load;
  load.count = count_of(plan.parameter_set_bytes() / plan.array);
  load.passes = group.blocks;
  load.address = layout.parameters + plan.product_of(group.first_row) * plan.parameter_set_bytes();
  return load;
}

}  // namespace

std::uint64_t page_up(std::uint64_t address) { return (address + kPage - 1) / kPage * kPage; }

std::uint32_t ring_places(std::uint64_t commands) {
  if (commands >= kMaxRing) {
    throw UsageError(
        fmt::format("a program of {} commands; a ring holds {}: use a smaller --batch, or a larger "
                    "--array, whose programs are shorter",
                    commands, kMaxRing - 1));
  }
  std::uint32_t places = kRingCommands;
  while (places <= commands) places *= 2;
  return places;
}

Layout make_layout(const Plan& plan) {
  return make_layout(plan, std::uint64_t{ring_places(program_length(plan))} * kCommandBytes);
}

Layout make_layout(const Plan& plan, std::uint64_t from, std::optional<std::uint64_t> activations,
                   std::optional<std::uint64_t> operands, std::optional<std::uint64_t> results) {
  Layout layout;
  std::uint64_t next = from;
  const auto place = [&next](std::uint64_t bytes) {
    const std::uint64_t address = page_up(next);
    next = address + bytes;
    return address;
  };
  layout.weights = place(plan.weight_bytes());
  layout.parameters = place(plan.parameter_bytes());
  layout.activations = activations ? *activations : place(plan.activation_bytes());
  layout.operands = operands ? *operands : place(plan.operand_bytes());
  layout.results = results ? *results : place(plan.result_bytes());
  layout.end = next;
  return layout;
}

std::uint64_t program_length(const Plan& plan) {
  if (plan.convolution() != nullptr || plan.output.part) return make_program(plan, {}).size();
  const std::uint64_t loads_and_more =
      4 + (plan.results().takes_parameters() ? 1 : 0) + (plan.output.takes_operands() ? 1 : 0);
  return loads_and_more * plan.groups.size() + (plan.output.takes_table() ? 1 : 0) + 1;
}

void JobCommands::add_store(const Plan& plan, const Layout& layout, const RowGroup& blocks,
                            std::uint32_t first_tile, std::uint32_t tiles, Phase phase) {
  if (!plan.output.part || !plan.output.part->has_shared_tiles(plan.shape.n, plan.array)) {
    add_store(plan, layout, blocks, first_tile, tiles, {0, plan.array}, phase);
    return;
  }
  // A STORE for each run of tiles of which it writes the same lanes.
  const std::uint32_t end = first_tile + tiles;
  const auto run_from = [&](std::uint32_t tile) {
    std::uint32_t next = tile + 1;
    while (next < end && plan.lanes_of(next) == plan.lanes_of(tile)) ++next;
    return next;
  };
  const bool is_one = run_from(first_tile) == end;
  for (std::uint32_t block = 0; block < (is_one ? 1 : blocks.blocks); ++block) {
    RowGroup rows = blocks;
    if (!is_one) {
      rows.first_row += std::uint64_t{block} * (blocks.step != 0 ? blocks.step : blocks.rows);
      rows.blocks = 1;
    }
    for (std::uint32_t tile = first_tile; tile < end;) {
      const std::uint32_t next = run_from(tile);
      add_store(plan, layout, rows, tile, next - tile, plan.lanes_of(tile), phase);
      tile = next;
    }
  }
}

void JobCommands::add_store(const Plan& plan, const Layout& layout, const RowGroup& blocks,
                            std::uint32_t first_tile, std::uint32_t tiles,
                            std::pair<std::uint32_t, std::uint32_t> lanes, Phase phase) {
  const auto byte = [](int value) { return static_cast<std::uint32_t>(value) & 0xff; };
  // Blocks that do not follow each other are stored as tiles of one block are.
  const bool apart = blocks.step != 0;
  const std::uint64_t place =
      plan.results().block_bytes(first_tile * plan.result_rows() + blocks.first_row, plan.array);
  const bool first = !lanes_;
  const bool keeps = std::exchange(lanes_, lanes) == lanes;
  LoadOperandsCommand load;
  load.count = load.passes = load.blocks = 1;
  if (!keeps && plan.output.takes_table()) {
    load.rows = load.stride = table_words(plan.array);
    load.address = layout.parameters + plan.table_place();
    add(load, first ? Phase::kAhead : phase);
  }
  if (plan.output.broadcasts() && plan.output.operand_images != 1) {
    add_image_operands(plan, layout, blocks, first_tile, phase);
  } else if (plan.output.broadcasts()) {
    load.rows = load.stride = tiles;
    load.passes = blocks.blocks;
    load.address = layout.operands + std::uint64_t{first_tile} * plan.array;
    add(load, phase);
  } else if (plan.output.takes_operands()) {
    load.rows = blocks.rows;
    load.count = apart ? blocks.blocks : tiles;
    load.blocks = apart ? 1 : blocks.blocks;
    const std::uint64_t rows = layout.operand_rows != 0 ? layout.operand_rows : plan.result_rows();
    load.address = layout.operands + (first_tile * rows + blocks.first_row) * plan.array;
    load.stride = apart ? blocks.step : count_of(rows);
    add(load, phase);
  }
  StoreCommand store = plan.output.vector.value_or(StoreCommand());
  if (plan.output.vector) {
    store.flags = flag::kVector;
    store.keep = keeps ? 1 : 0;
    store.first_lane = lanes.first;
    store.lanes = lanes.second - lanes.first == plan.array ? 0 : lanes.second - lanes.first;
  }
  store.rows = blocks.rows;
  store.count = apart ? blocks.blocks : tiles;
  store.blocks = apart ? 1 : blocks.blocks;
  store.address = layout.results + place;
  store.format = plan.output.format.number();
  store.zero = byte(plan.output.zero);
  store.low = byte(plan.output.low);
  store.high = byte(plan.output.high);
  store.stride = apart ? blocks.step : count_of(plan.result_rows());
  add(store, phase);
}

/// The operands of one tile: of the first image that has blocks here, for those that it has left;
/// then of all that have all of theirs here; then of the last one.
void JobCommands::add_image_operands(const Plan& plan, const Layout& layout, const RowGroup& blocks,
                                     std::uint32_t tile, Phase phase) {
  const std::uint32_t images = plan.output.operand_images;
  const std::uint64_t step = blocks.step != 0 ? blocks.step : blocks.rows;
  const std::uint64_t each = plan.shape.m / images / step;  // blocks of an image
  std::uint64_t block = blocks.first_row / step;
  for (const std::uint64_t end = block + blocks.blocks; block != end;) {
    const std::uint64_t left = std::min(each - block % each, end - block);
    LoadOperandsCommand load;
    load.rows = load.count = load.stride = 1;
    load.passes = count_of(left);
    load.blocks = left == each ? count_of((end - block) / each) : 1;
    load.address = layout.operands + (std::uint64_t{tile} * images + block / each) * plan.array;
    add(load, phase);
    block += left * load.blocks;
  }
}

JobCommands job_commands(const Plan& plan, const Layout& layout, const Overlaps& overlaps) {
  if (plan.window) return window_commands(plan, layout, overlaps);
  if (plan.lanes) return lanes_commands(plan, layout, overlaps);
  JobCommands list;
  for (const RowGroup& group : plan.groups) {
    const bool first = &group == &plan.groups.front();
    list.add(load_weights(plan, layout, group), first ? Phase::kAhead : Phase::kRest);
    const bool early = first && overlaps.early_tiles != 0;
    LoadActivationsCommand load = load_activations(plan, layout, group);
    if (early) {
      load.count = overlaps.early_tiles;
      list.add(load, Phase::kEarly);
      load.address += std::uint64_t{load.count} * load.stride * plan.array;
      load.count = plan.k_tiles - overlaps.early_tiles;
    }
    if (load.count != 0) list.add(load, Phase::kRest);
    list.add(matmul(plan, group), early ? Phase::kEarly : Phase::kRest);
    if (plan.results().takes_parameters()) {
      list.add(load_parameters(plan, layout, group), first ? Phase::kAhead : Phase::kRest);
    }
    const auto tiles = count_of(plan.result_blocks());
    const std::uint32_t now = overlaps.cut ? overlaps.cut->tile : tiles;
    list.add_store(plan, layout, group, 0, now, Phase::kRest);
    if (now != tiles) list.add_store(plan, layout, group, now, tiles - now, Phase::kRest);
  }
  list.add(FinishCommand(), Phase::kRest);
  return list;
}

std::vector<Command> make_program(const Plan& plan, const Layout& layout) {
  return job_commands(plan, layout).commands;
}

}  // namespace gemm64

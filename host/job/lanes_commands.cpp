// SPDX-License-Identifier: Apache-2.0
// The commands of a depthwise convolution on the lanes.
#include <algorithm>

#include "host/job/job_commands.hpp"

namespace gemm64 {
namespace {

/// LOAD_ACTIVATIONS of words [from, end) of what lies at `address`.
void load_words(JobCommands& list, const Plan& plan, std::uint64_t address, std::uint64_t from,
                std::uint64_t end, Phase phase) {
  const std::uint64_t run = plan.lanes->command.rows;
  const auto load = [&](std::uint64_t rows, std::uint64_t count) {
    if (rows == 0 || count == 0) return;
    LoadActivationsCommand command;
    command.rows = static_cast<std::uint32_t>(rows);
    command.count = static_cast<std::uint32_t>(count);
    command.passes = command.blocks = 1;
    command.address = address + from * plan.array;
    command.stride = command.rows;
    list.add(command, phase);
    from += rows * count;
  };
  load(run, (end - from) / run);
  load(end - from, 1);
}

/// LOAD_PARAMETERS of planes [from, end), each so many times.
void load_parameters(JobCommands& list, const Plan& plan, const Layout& layout, std::uint32_t from,
                     std::uint32_t end, std::uint64_t times, Phase phase) {
  if (!plan.results().takes_parameters()) return;
  LoadParametersCommand load;
  load.count = (end - from) * kParameterSetWords;
  load.passes = static_cast<std::uint32_t>(times);
  load.address = layout.parameters + std::uint64_t{from} * kParameterSetWords * plan.array;
  list.add(load, phase);
}

}  // namespace

JobCommands lanes_commands(const Plan& plan, const Layout& layout, const Overlaps& overlaps) {
  const LanesCut& lanes = *plan.lanes;
  const std::uint32_t planes = plan.n_tiles;
  const std::uint64_t words = lanes.plane_words() * planes;
  const std::uint64_t early = std::min(overlaps.early_words, words);
  const std::uint64_t blocks = plan.row_blocks();
  JobCommands list;
  LoadWeightsCommand weights;
  weights.count = static_cast<std::uint32_t>(lanes.weight_words());
  weights.passes = 1;
  weights.address = layout.weights;
  list.add(weights, Phase::kAhead);
  load_parameters(list, plan, layout, 0, blocks == 1 ? planes : 1, blocks, Phase::kAhead);
  load_words(list, plan, layout.activations, 0, early, Phase::kEarly);
  list.add(lanes.command, early != 0 ? Phase::kEarly : Phase::kRest);
  load_words(list, plan, layout.activations, early, words, Phase::kRest);

  const ResultCut cut = overlaps.cut.value_or(ResultCut{0, planes});
  if (blocks == 1) {
    const auto store = [&](std::uint32_t from, std::uint32_t end) {
      if (from != end) list.add_store(plan, layout, plan.groups[0], from, end - from, Phase::kRest);
    };
    store(0, std::min(cut.tile, planes));
    store(std::min(cut.tile, planes), planes);
    list.add(FinishCommand(), Phase::kRest);
    return list;
  }
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    if (plane != 0) load_parameters(list, plan, layout, plane, plane + 1, blocks, Phase::kRest);
    std::uint64_t before = 0;
    for (const RowGroup& group : plan.groups) {
      const auto store = [&](std::uint64_t from, std::uint64_t end) {
        if (from == end) return;
        const RowGroup part{group.first_row + from * group.rows, group.rows,
                            static_cast<std::uint32_t>(end - from), true};
        list.add_store(plan, layout, part, plane, 1, Phase::kRest);
      };
      const bool here = plane == cut.tile && before < cut.block && cut.block < before + group.blocks;
      const std::uint64_t first = here ? cut.block - before : 0;
      store(0, first);
      store(first, group.blocks);
      before += group.blocks;
    }
  }
  list.add(FinishCommand(), Phase::kRest);
  return list;
}

}  // namespace gemm64

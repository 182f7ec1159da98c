// SPDX-License-Identifier: Apache-2.0
// The commands of a depthwise convolution on the lanes.
#include <algorithm>
#include <optional>
#include <vector>

#include "host/tiling/job_commands.hpp"

namespace gemm64 {
namespace {

/// LOAD_ACTIVATIONS of words [from, end) of `address`.
void load_words(JobCommands& list, const Plan& plan, std::uint64_t address, std::uint64_t from,
                std::uint64_t end, Phase phase) {
  const std::uint64_t run = plan.lanes->command().rows;
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

/// The words that a strip takes, row by row of all images and planes.
void load_strip(JobCommands& list, const Plan& plan, std::uint64_t address, const LanesStrip& strip,
                Phase phase) {
  const DepthwiseCommand& own = strip.command;
  LoadActivationsCommand load;
  load.rows = own.width;
  load.count = own.height * own.passes * own.count;
  load.passes = load.blocks = 1;
  load.address = address + std::uint64_t{strip.in_column} * plan.array;
  load.stride = plan.lanes->convolution.width;
  list.add(load, phase);
}

/// LOAD_PARAMETERS of planes [from, end), each as many times as needed.
void load_parameters(JobCommands& list, const Plan& plan, const Layout& layout, std::uint32_t from,
                     std::uint32_t end, std::uint64_t times, Phase phase) {
  if (!plan.results().takes_parameters()) return;
  LoadParametersCommand load;
  load.count = (end - from) * kParameterSetWords;
  load.passes = static_cast<std::uint32_t>(times);
  load.address = layout.parameters + std::uint64_t{from} * kParameterSetWords * plan.array;
  list.add(load, phase);
}

/// The same of a plane whose pixels are repeated: a word repeatedly, a row of words that many
/// times.
void load_repeated_plane(JobCommands& list, const Plan& plan, std::uint64_t address,
                         std::uint32_t plane) {
  const DepthwiseTiling& lanes = *plan.lanes;
  LoadActivationsCommand command;
  command.rows = command.passes = 1;
  command.count = lanes.repeat_width;
  command.blocks = lanes.convolution.width / lanes.repeat_width;
  const std::uint64_t rows = lanes.plane_words() / lanes.repeats() / command.blocks;
  for (std::uint64_t row = plane * rows; row < (plane + 1) * rows; ++row) {
    command.address = address + row * command.blocks * plan.array;
    for (std::uint32_t i = 0; i < lanes.repeat_height; ++i) list.add(command, Phase::kRest);
  }
}

/// The parameters of all blocks of all planes, a step at a time, so that those of a plane are there
/// when its results are: what asks for many words of activations keeps them waiting.
class ParameterLoads {
 public:
  ParameterLoads(JobCommands& list, const Plan& plan, const Layout& layout)
      : list_(list), plan_(plan), layout_(layout) {}

  /// Ahead of all: of the first planes; of a pool, whose channels all have the same, of all planes
  /// but the last one, which may have fewer.
  void first() {
    const std::uint64_t blocks = plan_.row_blocks();
    if (blocks == 1) {
      load(0, plan_.n_tiles, 1, Phase::kAhead);
      next_ = plan_.n_tiles;
    } else if (is_pool() && plan_.n_tiles > 1 && !plan_.lanes->in_strips()) {
      next_ = plan_.n_tiles - 1;
      load(0, 1, next_ * blocks, Phase::kAhead);
    } else {
      load_to(planes_ahead(), Phase::kAhead);
    }
  }
  /// Ahead of the STOREs of a plane: of later ones, too. The planes of a strip are counted
  /// after those of the strips before.
  void before_plane(std::uint32_t plane) { load_to(plane + planes_ahead(), Phase::kRest); }

 private:
  bool is_pool() const { return plan_.shape.k == 0; }
  std::uint64_t blocks_of(std::uint32_t plane) const {
    return plan_.lanes->in_strips() ? plan_.groups[plane / plan_.n_tiles].blocks
                                    : plan_.row_blocks();
  }
  /// Planes whose parameters are asked for ahead of their turn: as many as there is room for, since
  /// words of activations that are on their way come first.
  std::uint32_t planes_ahead() const {
    const std::uint64_t planes = plan_.lanes->parameter_sets / blocks_of(0);
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(planes, 2) - 1);
  }
  /// All planes up to one that have not been asked for.
  void load_to(std::uint32_t plane, Phase phase) {
    const auto strips = static_cast<std::uint32_t>(plan_.lanes->strips.size());
    for (; next_ <= plane && next_ < plan_.n_tiles * strips; ++next_) {
      const std::uint32_t of = next_ % plan_.n_tiles;
      load(of, of + 1, blocks_of(next_), phase);
    }
  }
  void load(std::uint32_t from, std::uint32_t end, std::uint64_t times, Phase phase) {
    load_parameters(list_, plan_, layout_, from, end, times, phase);
  }

  JobCommands& list_;
  const Plan& plan_;
  const Layout& layout_;
  std::uint32_t next_ = 0;  // plane whose parameters have not been asked for
};

/// A part of a plan's results, for a STORE.
struct Part {
  RowGroup rows;
  std::uint32_t plane, planes;
};

/// All results in the order in which they are made, none of them on both sides of a cut. `apart`:
/// each plane by itself.
std::vector<Part> parts_of(const Plan& plan, const std::optional<ResultCut>& cut, bool apart) {
  const std::uint32_t planes = plan.n_tiles;
  std::vector<Part> parts;
  if (plan.row_blocks() == 1 && !apart) {  // a block a plane
    const std::uint32_t first = cut ? cut->tile : planes;
    if (first != 0) parts.push_back({plan.groups[0], 0, first});
    if (first != planes) parts.push_back({plan.groups[0], first, planes - first});
    return parts;
  }
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    std::uint64_t before = 0;
    for (const RowGroup& group : plan.groups) {
      const bool here =
          cut && plane == cut->tile && before < cut->block && cut->block < before + group.blocks;
      const auto first = here ? static_cast<std::uint32_t>(cut->block - before) : group.blocks;
      parts.push_back({{group.first_row, group.rows, first, true}, plane, 1});
      if (here) {
        parts.push_back({{group.first_row + std::uint64_t{first} * group.rows, group.rows,
                          group.blocks - first, true},
                         plane,
                         1});
      }
      before += group.blocks;
    }
  }
  return parts;
}

/// The commands of strips, after those of the weights: what a strip takes is asked for ahead of
/// the STOREs of the one before.
void add_strips(JobCommands& list, ParameterLoads& parameters, const Plan& plan,
                const Layout& layout, const Overlaps& overlaps) {
  const DepthwiseTiling& lanes = *plan.lanes;
  const auto begin = [&](std::size_t strip) {
    // All words of the first one, or none, are there early.
    const Phase phase = strip == 0 && overlaps.early_words != 0 ? Phase::kEarly : Phase::kRest;
    load_strip(list, plan, layout.activations, lanes.strips[strip], phase);
    list.add(lanes.strips[strip].command, phase);
  };
  begin(0);
  for (std::size_t strip = 0; strip < lanes.strips.size(); ++strip) {
    if (strip + 1 < lanes.strips.size()) begin(strip + 1);
    for (std::uint32_t plane = 0; plane < plan.n_tiles; ++plane) {
      parameters.before_plane(static_cast<std::uint32_t>(strip) * plan.n_tiles + plane);
      list.add_store(plan, layout, plan.groups[strip], plane, 1, Phase::kRest);
    }
  }
  list.add(FinishCommand(), Phase::kRest);
}

}  // namespace

JobCommands lanes_commands(const Plan& plan, const Layout& layout, const Overlaps& overlaps) {
  const DepthwiseTiling& lanes = *plan.lanes;
  const std::uint64_t words = lanes.plane_words() * plan.n_tiles;
  // One command for what is early, so that with it and those of what comes late the engine's queue
  // is not full: STOREs, which make room for the words, follow.
  const std::uint64_t run = lanes.command().rows;
  const std::uint64_t early =
      overlaps.early_words >= words ? words : overlaps.early_words / run * run;
  const bool repeats = lanes.repeats() != 1, some = layout.plane_pixels != 0;
  JobCommands list;
  LoadWeightsCommand weights;
  weights.count = static_cast<std::uint32_t>(lanes.weight_words());
  weights.passes = static_cast<std::uint32_t>(lanes.strips.size());
  weights.address = layout.weights;
  list.add(weights, Phase::kAhead);
  ParameterLoads parameters(list, plan, layout);
  parameters.first();
  if (lanes.in_strips()) {
    add_strips(list, parameters, plan, layout, overlaps);
    return list;
  }
  load_words(list, plan, layout.activations, 0, early, Phase::kEarly);
  if (early == 0 && !repeats && !some) {
    load_words(list, plan, layout.activations, 0, words, Phase::kRest);
  }
  list.add(lanes.command(), early != 0 ? Phase::kEarly : Phase::kRest);
  std::uint32_t next_plane = 0;
  bool first = true;
  const std::vector<Part> parts = parts_of(plan, overlaps.cut, repeats || some);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    parameters.before_plane(part.plane);
    list.add_store(plan, layout, part.rows, part.plane, part.planes, Phase::kRest);
    // Many commands, for whose words the lanes make room as results are stored. A plane with a cut
    // has all its STOREs before them, since the first one may not make room for all words.
    const bool is_cut = overlaps.cut && overlaps.cut->tile == part.plane;
    const bool follows = i + 1 < parts.size() && parts[i + 1].plane == part.plane;
    if ((repeats || some) && part.plane == next_plane && !(is_cut && follows)) {
      if (repeats) {
        load_repeated_plane(list, plan, layout.activations, next_plane++);
      } else {
        const std::uint64_t plane = next_plane++ * layout.plane_pixels * plan.array;
        load_words(list, plan, layout.activations + plane, 0, lanes.plane_words(), Phase::kRest);
      }
    }
    // What comes late follows one STORE: the lanes may need it to make room for these words,
    // and a second one might wait for them.
    if (first && early != 0) load_words(list, plan, layout.activations, early, words, Phase::kRest);
    first = false;
  }
  list.add(FinishCommand(), Phase::kRest);
  return list;
}

}  // namespace gemm64

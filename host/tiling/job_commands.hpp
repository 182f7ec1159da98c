// SPDX-License-Identifier: Apache-2.0
// The commands of a job, by itself and as a part of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "host/device/command_types.hpp"
#include "host/tiling/plan.hpp"
#include "host/tiling/program.hpp"

namespace gemm64 {

/// When a command of a job is dispatched, seen from the job before it in a program.
enum class Phase {
  kAhead,  // it takes nothing that the job before gives: ahead of all fences
  kEarly,  // after a fence for a part of that one's results, if it takes any
  kRest,   // after the fence that ends that one
};

/// A place in the order in which a job's results are finished: all those of the blocks before
/// `block`, and of its own the tiles before `tile`. On the lanes: all those of the tiles (planes)
/// before `tile`, and of its own the blocks before `block`.
struct ResultCut {
  std::uint64_t block = 0;
  std::uint32_t tile = 0;

  friend bool operator==(const ResultCut& a, const ResultCut& b) {
    return a.block == b.block && a.tile == b.tile;
  }
};

/// Where a job of a program overlaps its neighbors.
struct Overlaps {
  // Early are this many blocks, and of the next one's activations this many tiles of K or planes.
  std::uint64_t early_blocks = 0;
  std::uint32_t early_tiles = 0;
  std::optional<ResultCut> cut;   // no STORE has results on both sides of it
  std::uint64_t early_words = 0;  // of activations for the lanes
};

/// Commands, FINISH last, and the phase of each.
struct JobCommands {
  std::vector<Command> commands;
  std::vector<Phase> phases;

  void add(const Command& command, Phase phase) {
    commands.push_back(command);
    phases.push_back(phase);
  }
  /// STORE of a plan's blocks, after LOAD_OPERANDS where it takes some: the blocks' height, how
  /// many they are, the row with which they begin, and which tiles of N. The job's first STORE sets
  /// what the element-wise unit does, later ones keep that, but where they write other lanes.
  void add_store(const Plan& plan, const Layout& layout, const RowGroup& blocks,
                 std::uint32_t first_tile, std::uint32_t tiles, Phase phase);

 private:
  void add_store(const Plan& plan, const Layout& layout, const RowGroup& blocks,
                 std::uint32_t first_tile, std::uint32_t tiles,
                 std::pair<std::uint32_t, std::uint32_t> lanes, Phase phase);
  void add_image_operands(const Plan& plan, const Layout& layout, const RowGroup& blocks,
                          std::uint32_t tile, Phase phase);

  std::optional<std::pair<std::uint32_t, std::uint32_t>> lanes_;  // that the last STORE writes
};

/// The commands that carry out a plan. Of a product: for each group of blocks of M LOAD_WEIGHTS,
/// LOAD_ACTIVATIONS, MATMUL, LOAD_PARAMETERS where the results take some, STORE. Of a convolution:
/// LOAD_WEIGHTS, SET_WINDOW for each strip, for each block LOAD_ACTIVATIONS and MATMUL, and STOREs
/// of as many blocks as one can have. Engines run ahead of each other.
JobCommands job_commands(const Plan& plan, const Layout& layout, const Overlaps& overlaps = {});

/// The same of a depthwise convolution on the lanes: LOAD_WEIGHTS, LOAD_ACTIVATIONS, DEPTHWISE, and
/// for each plane LOAD_PARAMETERS and STOREs.
JobCommands lanes_commands(const Plan& plan, const Layout& layout, const Overlaps& overlaps);

/// The same of a convolution on the array.
JobCommands window_commands(const Plan& plan, const Layout& layout, const Overlaps& overlaps);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A command of a plan's program as the tiles that its engine works through.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "host/device/registers.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// Where a tile lies: its blocks of M, K and N, counted from 0 over the whole plan; -1 along what
/// it spans or serves as a whole, and along M where the plan has but one block.
struct TilePlace {
  std::int64_t m = -1;
  std::int64_t k = -1;
  std::int64_t n = -1;
};

/// "m1 k3 n7", without the axes that are -1.
std::string to_string(const TilePlace& place);

/// What one command does, in the order in which it does it.
struct CommandTiles {
  std::string title;              // "MATMUL 64x9216x4096"
  nlohmann::ordered_json fields;  // its number in the program, and the fields that it uses
  std::uint64_t tiles = 0;        // in all; of results: blocks
  std::uint64_t transfers = 0;    // of each tile: words, rows or beats, one in a clock

  /// The place of one of the tiles.
  TilePlace place(std::uint64_t tile) const;

  std::int64_t first_m = 0;  // block of M that the command begins with
  std::uint64_t k_tiles = 1, n_tiles = 1;
  bool has_m = true, has_k = true, has_n = true;
};

/// Command `index` of make_program(plan), which is `command`.
CommandTiles command_tiles(const Plan& plan, std::size_t index, const Command& command);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A command of a job as the tiles that its engine works through.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "host/tiling/job.hpp"

namespace gemm64 {

/// What a transfer covers: a block of M, of K and of N, counted from 0 over the whole job; -1 along
/// an axis that it spans or serves as a whole, and along M where the job has one block only.
struct TileSpan {
  std::int64_t m = -1;
  std::int64_t k = -1;
  std::int64_t n = -1;
  std::int64_t plane = -1;  // of a convolution's input; its k counts taps too
};

/// "m1 k3 n7" or "m1 p0", without the axes that are -1.
std::string to_string(const TileSpan& span);

/// What one command does, in the order in which it does it.
struct CommandTiles {
  std::string title;              // "MATMUL 64x9216x4096"
  nlohmann::ordered_json fields;  // its number in the program, and the fields that it uses
  std::uint64_t tiles = 0;        // in all; of results: blocks
  std::uint64_t transfers = 0;    // of each tile: words, rows or beats, one in a cycle

  /// What one of the tiles covers, counted from 0.
  TileSpan span(std::uint64_t tile) const;

  std::int64_t first_m = 0;      // block of M that the command's MATMUL begins with
  std::uint64_t first_tile = 0;  // of those that the MATMUL takes or gives, that of the command
  std::uint64_t k_tiles = 1, n_tiles = 1;
  std::uint64_t first_n = 0;  // tile of N that the MATMUL begins with
  bool has_m = true, has_k = true, has_n = true;
  bool planes = false;            // its tiles are planes of pixels
  std::uint64_t first_plane = 0;  // of the first tile
};

/// A command that serves no MATMUL: FINISH, or a FENCE.
CommandTiles lone_command_tiles(const Command& command, std::uint32_t array);

/// Command `index` of the job's program.
CommandTiles command_tiles(const Job& job, std::size_t index);

}  // namespace gemm64

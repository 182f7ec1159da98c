// SPDX-License-Identifier: Apache-2.0
#include "host/job/overlap.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace gemm64 {
namespace {

// What a memory usually takes to answer a write and a read, with what the engines take to ask.
constexpr std::uint64_t kThroughMemory = 260;

/// A block of a plan, as overlaps see it.
struct Block {
  std::uint64_t first_row, end_row;  // of its results
  std::uint64_t needed;              // rows of activations, or pixels, with those before them
  std::uint64_t new_words;           // of a plane, that are loaded for it
  std::uint64_t tile_clocks;         // of a tile
};

/// The blocks of a plan that can have overlaps; none where it has strips, or is a product of
/// several blocks.
std::vector<Block> blocks_of(const Plan& plan) {
  std::vector<Block> blocks;
  if (!plan.window) {
    if (plan.row_blocks() != 1) return blocks;
    const std::uint64_t m = plan.shape.m;
    blocks.push_back({0, m, m, m, std::max<std::uint64_t>(m, plan.array)});
    return blocks;
  }
  if (plan.window->in_strips()) return blocks;
  const WindowPlan& window = plan.window->strips[0].plan;
  for (const WindowBlock& block : window.blocks) {
    blocks.push_back({block.first, block.first + block.rows, block.loaded(), block.new_pixels,
                      std::max<std::uint64_t>(block.rows, plan.array)});
  }
  return blocks;
}

/// Tiles of a block before the first that reads none of the first `planes` planes.
std::uint64_t tiles_of_planes(const Plan& plan, std::uint32_t planes) {
  if (!plan.window) return planes;
  const Window& w = plan.window->window;
  const std::uint64_t taps = std::uint64_t{w.kernel_height} * w.kernel_width;
  const std::uint64_t whole = planes / w.group_planes;
  return (whole * w.group_passes * w.group_planes + planes % w.group_planes) * taps;
}

/// The way of results into the array: out of it, to memory and back.
std::uint64_t way(const Geometry& geometry, std::uint64_t rows, std::uint64_t words) {
  return geometry.pipeline() + rows + kThroughMemory + words;
}

/// An overlap with what it costs: clocks in which the array waits; and the clocks to spare where it
/// does not.
struct Rated {
  Overlap overlap;
  std::int64_t waits = 0, spare = 0;
};

Rated rate(const Plan& plan, const std::vector<Block>& blocks, const Plan& next,
           const std::vector<Block>& next_blocks, const ResultCut& cut, const Geometry& geometry) {
  const Block& last = blocks[cut.block];
  Rated rated;
  Overlap& overlap = rated.overlap;
  overlap.cut = cut;
  const auto clocks = [](const Plan& of, const Block& block) {
    return of.tiles() * block.tile_clocks;
  };
  // Behind the cut. Its FENCE is dispatched when the last block but one begins, at the earliest.
  std::uint64_t behind = std::uint64_t{plan.n_tiles - cut.tile} * plan.k_tiles * last.tile_clocks;
  for (std::uint64_t b = cut.block + 1; b < blocks.size(); ++b) behind += clocks(plan, blocks[b]);
  // Ready before it.
  std::uint64_t ready = 0;
  std::uint64_t& early = overlap.early_blocks;
  for (; early < next_blocks.size() && next_blocks[early].needed <= last.first_row; ++early) {
    ready += clocks(next, next_blocks[early]);
  }
  if (cut.tile != 0 && early < next_blocks.size() && next_blocks[early].needed <= last.end_row) {
    overlap.early_tiles = cut.tile;
    ready += tiles_of_planes(next, cut.tile) * next_blocks[early].tile_clocks;
  }
  const auto signed_way = [&](std::uint64_t block) {
    const Block& of = next_blocks[std::min<std::uint64_t>(block, next_blocks.size() - 1)];
    return static_cast<std::int64_t>(way(geometry, last.end_row - last.first_row, of.new_words));
  };
  const std::int64_t first = std::max<std::int64_t>(signed_way(0) - std::int64_t(behind), 0);
  const std::int64_t second =
      std::max<std::int64_t>(signed_way(early) - first - std::int64_t(ready), 0);
  rated.waits = first + second;
  rated.spare = std::min(std::int64_t(behind) - signed_way(0), std::int64_t(ready) - signed_way(0));
  if (ready == 0) rated.waits = std::numeric_limits<std::int64_t>::max();
  return rated;
}

}  // namespace

std::optional<Overlap> find_overlap(const Plan& plan, const Plan& next, const Geometry& geometry) {
  const std::vector<Block> blocks = blocks_of(plan), next_blocks = blocks_of(next);
  if (blocks.empty() || next_blocks.empty() || plan.accumulate == Accumulate::kHost) return {};
  if (!next.window && !next.groups[0].retain) return {};  // its activations do not stay on chip
  if (!plan.window && !next.window) {  // the last tile of N is the last tile of K
    if (plan.n_tiles < 2) return {};
    return Overlap{{0, plan.n_tiles - 1}, 0, plan.n_tiles - 1};
  }
  std::optional<Rated> best;
  const std::uint64_t from = blocks.size() > 2 ? blocks.size() - 2 : 0;
  for (std::uint64_t block = from; block < blocks.size(); ++block) {
    for (std::uint32_t tile = 0; tile < plan.n_tiles; ++tile) {
      if (block == 0 && tile == 0) continue;
      const Rated rated = rate(plan, blocks, next, next_blocks, {block, tile}, geometry);
      if (rated.waits == std::numeric_limits<std::int64_t>::max()) continue;
      if (!best || rated.waits < best->waits ||
          (rated.waits == best->waits && rated.spare > best->spare)) {
        best = rated;
      }
    }
  }
  if (!best) return {};
  return best->overlap;
}

std::uint64_t covering_blocks(const Plan& next, const Geometry& geometry) {
  if (!next.window) return 0;
  const std::vector<Block> blocks = blocks_of(next);
  std::uint64_t clocks = 0, count = 0;
  const std::uint64_t enough = way(geometry, geometry.accumulator_rows, geometry.accumulator_rows);
  while (count < blocks.size() && clocks < enough) {
    clocks += next.tiles() * blocks[count++].tile_clocks;
  }
  return count;
}

}  // namespace gemm64

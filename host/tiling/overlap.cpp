// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/overlap.hpp"

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
  std::uint64_t tile_cycles;         // of a tile
};

/// Rows of results that are finished before a cut: of the tiles (planes) before its own, of its
/// own, and of those after it. Of a map in parts, the tiles or rows of the last one, and all of
/// others.
struct Finished {
  std::uint32_t tile = 0;
  std::uint64_t before = 0, own = 0, after = 0;
  std::uint32_t first_tile = 0, end_tile = 0;  // of the part
  std::uint64_t all = 0;                       // rows of others

  std::uint64_t rows(std::uint32_t of) const {
    if (of < first_tile || of >= end_tile) return all;
    return of < tile ? before : of == tile ? own : after;
  }
  /// Rows that all of the first `tiles` tiles have.
  std::uint64_t common_rows(std::uint32_t tiles) const {
    const std::uint32_t end = std::min(tiles, end_tile);
    if (end <= first_tile) return all;
    return tile + 1 < end ? after : tile < end ? own : before;
  }
  /// Rows that the tiles before the cut's have.
  std::uint64_t rows_before() const { return tile == first_tile ? all : before; }
};

/// The blocks of a plan that can have overlaps; none where it has strips or bands, or is a product
/// of several blocks. On the lanes those of a plane.
std::vector<Block> blocks_of(const Plan& plan) {
  std::vector<Block> blocks;
  if (plan.lanes) {
    if (plan.lanes->in_strips()) return blocks;
    for (const RowGroup& group : plan.groups) {
      for (std::uint64_t i = 0; i < group.blocks; ++i) {
        const std::uint64_t first = group.first_row + i * group.rows;
        blocks.push_back({first, first + group.rows, 0, 0, 0});
      }
    }
    return blocks;
  }
  if (!plan.window) {
    if (plan.row_blocks() != 1) return blocks;
    const std::uint64_t m = plan.shape.m;
    blocks.push_back({0, m, m, m, std::max<std::uint64_t>(m, plan.array)});
    return blocks;
  }
  if (plan.window->in_strips() || plan.has_bands()) return blocks;
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
std::uint64_t way(const Geometry& geometry, std::uint64_t rows, std::uint64_t words,
                  bool on_chip = false) {
  return geometry.pipeline() + rows + (on_chip ? kThroughTensorMemory : kThroughMemory) + words;
}

/// Cuts that may be good ones: late, since no FENCE for one is dispatched before the last STOREs
/// are.
std::vector<ResultCut> cuts_of(const Plan& plan, std::size_t blocks) {
  constexpr std::size_t kLate = 2;
  std::vector<ResultCut> cuts;
  if (plan.lanes) {
    for (std::uint32_t tile = plan.n_tiles - std::min<std::uint32_t>(plan.n_tiles, kLate);
         tile < plan.n_tiles; ++tile) {
      for (std::uint64_t block = 0; block < blocks; ++block) cuts.push_back({block, tile});
    }
  } else {
    for (std::uint64_t block = blocks - std::min(blocks, kLate); block < blocks; ++block) {
      for (std::uint32_t tile = 0; tile < plan.n_tiles; ++tile) cuts.push_back({block, tile});
    }
  }
  cuts.erase(std::remove(cuts.begin(), cuts.end(), ResultCut{}), cuts.end());
  return cuts;
}

Finished finished(const Plan& plan, const std::vector<Block>& blocks, const ResultCut& cut) {
  const Block& block = blocks[cut.block];
  const std::uint64_t rows = plan.result_rows(), before = plan.first_row();
  const std::uint32_t first = plan.first_tile(), tile = first + cut.tile;
  const std::uint32_t end = first + plan.n_tiles;
  if (plan.lanes) return {tile, rows, block.first_row, 0, first, end, rows};
  const std::uint64_t own = before + block.first_row;
  return {tile, before + block.end_row, own, own, first, end, rows};
}

/// Cycles of a plan's work after a cut.
std::uint64_t cycles_after(const Plan& plan, const std::vector<Block>& blocks,
                           const ResultCut& cut) {
  if (plan.lanes) {
    const std::uint64_t rows = plan.shape.m * plan.n_tiles;
    const std::uint64_t before = plan.shape.m * cut.tile + blocks[cut.block].first_row;
    return plan.lanes->cycles() * (rows - before) / rows;
  }
  // Its FENCE is dispatched when the last block but one begins, at the earliest.
  std::uint64_t after =
      std::uint64_t{plan.n_tiles - cut.tile} * plan.k_tiles * blocks[cut.block].tile_cycles;
  for (std::uint64_t b = cut.block + 1; b < blocks.size(); ++b) {
    after += plan.tiles() * blocks[b].tile_cycles;
  }
  return after;
}

/// What of a job can begin when so much is finished of the one whose results it reads, the cycles
/// that this takes, and the words of a plane that are loaded for what comes first and next.
struct Early {
  std::uint64_t blocks = 0, words = 0;
  std::uint32_t tiles = 0;
  std::uint64_t cycles = 0, first_words = 0, next_words = 0;
};

Early early_on_lanes(const Plan& next, const Finished& finished) {
  const DepthwiseTiling& lanes = *next.lanes;
  Early early;
  for (std::uint32_t plane = 0; plane < next.n_tiles; ++plane) {
    const std::uint64_t rows = finished.rows(plane);
    early.words += rows;
    if (rows != lanes.plane_words()) break;
  }
  // The first sum comes after the words of its taps.
  early.first_words = early.next_words = lanes.command().lead + 1;
  if (early.words <= early.first_words) return early;
  early.cycles =
      lanes.cycles() * (early.words - early.first_words) / (lanes.plane_words() * next.n_tiles);
  return early;
}

Early early_of(const Plan& next, const std::vector<Block>& next_blocks, const Finished& finished) {
  if (next.lanes) return early_on_lanes(next, finished);
  const std::uint32_t planes =
      next.window ? next.window->window.planes : static_cast<std::uint32_t>(next.k_tiles);
  const std::uint64_t common = finished.common_rows(planes);
  Early early;
  for (; early.blocks < next_blocks.size() && next_blocks[early.blocks].needed <= common;
       ++early.blocks) {
    early.cycles += next.tiles() * next_blocks[early.blocks].tile_cycles;
  }
  if (finished.tile != 0 && early.blocks < next_blocks.size() &&
      next_blocks[early.blocks].needed <= finished.rows_before()) {
    early.tiles = finished.tile;
    early.cycles += tiles_of_planes(next, early.tiles) * next_blocks[early.blocks].tile_cycles;
  }
  early.first_words = next_blocks[0].new_words;
  early.next_words =
      next_blocks[std::min<std::uint64_t>(early.blocks, next_blocks.size() - 1)].new_words;
  return early;
}

/// An overlap with what it costs: cycles in which the array waits; and the cycles to spare where it
/// does not.
struct Rated {
  Overlap overlap;
  std::int64_t waits, spare;
};

Rated rate(const Plan& plan, const std::vector<Block>& blocks, const Plan& next,
           const std::vector<Block>& next_blocks, const ResultCut& cut, const Geometry& geometry,
           bool on_chip) {
  const Block& last = blocks[cut.block];
  const auto after = static_cast<std::int64_t>(cycles_after(plan, blocks, cut));
  const Early early = early_of(next, next_blocks, finished(plan, blocks, cut));
  const auto ready = static_cast<std::int64_t>(early.cycles);
  const auto way_of = [&](std::uint64_t words) {
    return static_cast<std::int64_t>(way(geometry, last.end_row - last.first_row, words, on_chip));
  };
  const std::int64_t first = std::max<std::int64_t>(way_of(early.first_words) - after, 0);
  const std::int64_t second = std::max<std::int64_t>(way_of(early.next_words) - first - ready, 0);
  const std::int64_t waits = ready == 0 ? std::numeric_limits<std::int64_t>::max() : first + second;
  return {{cut, early.blocks, early.tiles, early.words},
          waits,
          std::min(after, ready) - way_of(early.first_words)};
}

}  // namespace

std::optional<Overlap> find_overlap(const Plan& plan, const Plan& next, const Geometry& geometry,
                                    bool on_chip) {
  const std::vector<Block> blocks = blocks_of(plan), next_blocks = blocks_of(next);
  if (blocks.empty() || next_blocks.empty() || plan.accumulate == Accumulate::kHost) return {};
  const bool products = plan.convolution() == nullptr && next.convolution() == nullptr;
  if (next.convolution() == nullptr && !next.groups[0].retain)
    return {};     // they do not stay on chip
  if (products) {  // the last tile of N is the last tile of K
    if (plan.n_tiles < 2) return {};
    return Overlap{{0, plan.n_tiles - 1}, 0, plan.first_tile() + plan.n_tiles - 1, 0};
  }
  std::optional<Rated> best;
  for (const ResultCut& cut : cuts_of(plan, blocks.size())) {
    const Rated rated = rate(plan, blocks, next, next_blocks, cut, geometry, on_chip);
    if (rated.waits == std::numeric_limits<std::int64_t>::max()) continue;
    if (!best || rated.waits < best->waits ||
        (rated.waits == best->waits && rated.spare > best->spare)) {
      best = rated;
    }
  }
  if (!best) return {};
  return best->overlap;
}

std::uint64_t covering_blocks(const Plan& next, const Geometry& geometry) {
  if (!next.window) return 0;
  const std::vector<Block> blocks = blocks_of(next);
  std::uint64_t cycles = 0, count = 0;
  const std::uint64_t enough = way(geometry, geometry.accumulator_rows, geometry.accumulator_rows);
  while (count < blocks.size() && cycles < enough) {
    cycles += next.tiles() * blocks[count++].tile_cycles;
  }
  return count;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Stacks of small products. One that has fewer columns than the array leaves the others empty, and
// its tile takes as many cycles as if they were full. So products share a tile: each has columns of
// its own, and the rows of all pass it.
#include <algorithm>

#include "host/compile/planner.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

std::uint64_t array_cycles(const Plan& plan) {
  std::uint64_t rows = 0;
  for (const RowGroup& group : plan.groups) {
    rows += std::uint64_t{std::max(group.rows, plan.array)} * group.blocks;
  }
  return rows * plan.tiles();
}

/// May a layer's results have others between them? Not where a layer reads them as they are stored,
/// or where they take an operand that is stored as they are.
bool Planner::may_share_tiles(std::size_t number) const {
  const Placed& placed = layers_[number];
  if (placed.node.products < 2 || placed.read || placed.takes_operand() || placed.layer.source ||
      placed.layer.part) {
    return false;
  }
  return std::none_of(layers_.begin(), layers_.end(), [number](const Placed& other) {
    return other.layer.source == number || other.layer.operand == number;
  });
}

/// Lets as many products of each stack share tiles as take the fewest cycles.
void Planner::share_tiles() {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!may_share_tiles(i)) continue;
    Placed& placed = layers_[i];
    const std::uint64_t most =
        std::min<std::uint64_t>(geometry_.n / placed.node.shape.n, placed.node.products);
    for (std::uint32_t together = 2; together <= most; ++together) {
      Placed shared = placed;
      shared.layer.shared_tiles = SharedTiles{together, placed.node.products};
      try {
        shared.layer.job = make(shared);
      } catch (const UsageError&) {  // its sizes are too large
        break;
      }
      if (array_cycles(shared.layer.job.plan) < array_cycles(placed.layer.job.plan)) {
        placed = std::move(shared);
      }
    }
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/published.hpp"

#include <algorithm>

namespace gemm64 {

PublishedCycles published_cycles(const GemmShape& shape, std::uint32_t array,
                                 std::uint32_t groups) {
  if (shape.k == 0) return {};  // a pool, of which they say nothing
  const std::uint64_t r = array;
  const auto tiles = [r](std::uint64_t size) { return (size + r - 1) / r; };
  const std::uint64_t columns = tiles(shape.n / groups);
  const std::uint64_t t = tiles(shape.k) * columns;
  PublishedCycles cycles;
  cycles.scale_sim_os = groups * (tiles(shape.m) * columns * (shape.k + 2 * r - 2) - 1);
  cycles.scale_sim_ws = groups * (t * (shape.m + 3 * r - 2) - 1);
  cycles.single_buffered = groups * (t * (r + shape.m) + 2 * r - 2);
  cycles.double_buffered = groups * (r + t * std::max(shape.m, r) + 2 * r - 2);
  return cycles;
}

PublishedCycles published_cycles(const Plan& plan) {
  GemmShape shape = plan.shape;
  if (const Convolution* const c = plan.convolution()) {
    return published_cycles(shape, plan.array, c->groups);
  }
  shape.m /= plan.products;
  shape.n *= plan.products;
  return published_cycles(shape, plan.array, plan.products);
}

}  // namespace gemm64

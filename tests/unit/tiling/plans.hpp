// SPDX-License-Identifier: Apache-2.0
// Plans that the tests of tiling and of the cycle model go through: edges around the array's size,
// K too long for the scratchpad, many blocks of rows, on several accelerators.
#pragma once

#include "host/tiling/plan.hpp"
#include "tests/test.hpp"

namespace gemm64 {

inline std::vector<Geometry> test_geometries() {
  std::vector<Geometry> geometries;
  for (const std::uint32_t n : {2u, 4u, 8u, 64u}) {
    Geometry geometry;
    geometry.n = n;
    geometry.stage_rows = std::min(n, 4u);
    geometries.push_back(geometry);
    // Small memories: blocks that do not stay on chip, many blocks of rows.
    geometry.scratchpad_words = 64 + n;
    geometry.accumulator_rows = 2 * n;
    geometries.push_back(geometry);
  }
  Geometry flat;  // the scratchpad, not the accumulator, limits the rows of a block
  flat.n = 4;
  flat.scratchpad_words = 100;
  flat.accumulator_rows = 128;
  geometries.push_back(flat);
  return geometries;
}

inline std::string describe(const GemmShape& shape, const Geometry& geometry) {
  return std::to_string(shape.m) + "x" + std::to_string(shape.k) + "x" + std::to_string(shape.n) +
         " for N = " + std::to_string(geometry.n) + ", " +
         std::to_string(geometry.scratchpad_words) + " words, " +
         std::to_string(geometry.accumulator_rows) + " rows";
}

/// No limit for for_plans().
inline constexpr std::uint64_t kAnySize = std::uint64_t{1} << 40;

/// Calls body(shape, accumulate, geometry) for edge shapes and random ones on every geometry: all
/// pairs of edges on each, all triples on some. A shape has at most about `most` products, so that
/// a body may look at each.
template <class Body>
void for_plans(std::uint32_t seed, unsigned random_shapes, std::uint64_t most, Body body) {
  std::mt19937 random(seed);
  std::size_t turn = 0;
  for (const Geometry& geometry : test_geometries()) {
    const std::uint64_t n = geometry.n;
    const std::uint64_t sizes[] = {1, 2, n - 1, n, n + 1, 2 * n - 1, 2 * n + 1, 1000};
    std::vector<GemmShape> shapes;
    constexpr std::size_t kSizes = std::size(sizes);
    for (std::size_t i = 0; i < kSizes * kSizes * kSizes; ++i) {
      const std::size_t m = i / kSizes / kSizes, k = i / kSizes % kSizes, columns = i % kSizes;
      if ((m + k + columns) % 4 == turn % 4) shapes.push_back({sizes[m], sizes[k], sizes[columns]});
    }
    ++turn;
    shapes.push_back({geometry.accumulator_rows * 5 + 3, n, n});
    shapes.push_back({geometry.accumulator_rows * 4, n, 1});
    shapes.push_back({3, n * (geometry.scratchpad_words + 1), n + 1});
    for (unsigned i = 0; i < random_shapes; ++i) {
      shapes.push_back({1 + random() % 300, 1 + random() % 300, 1 + random() % 300});
    }
    for (const GemmShape& shape : shapes) {
      if (shape.macs() > most || shape.m == 0 || shape.k == 0 || shape.n == 0) continue;
      for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
        body(shape, accumulate, geometry);
      }
    }
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Random work that a seed repeats.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace gemm64 {

/// A number from `low` to `high`, both included.
inline unsigned draw(std::mt19937& random, unsigned low, unsigned high) {
  return low + static_cast<unsigned>(random() % (high - low + 1));
}

/// Calls body(random) for each of `count` seeds, names the seed where it fails, and ends at the
/// first failure.
template <class Body>
void for_seeds(unsigned first, unsigned count, Body body) {
  for (unsigned seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    body(random);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Random work that a seed repeats.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace gemm64 {

/// A number from `low` to `high`, both included.
inline unsigned draw(std::mt19937& random, unsigned low, unsigned high) {
  return low + static_cast<unsigned>(random() % (high - low + 1));
}

/// Fills `bytes` at random, eight with each number: tests are compiled without optimization, where
/// a number takes long.
inline void fill(std::mt19937& random, std::vector<std::uint8_t>& bytes) {
  std::mt19937_64 numbers(random());
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t number = numbers();
    std::memcpy(bytes.data() + at, &number, std::min(sizeof number, bytes.size() - at));
  }
}

/// Returns the seed of a fresh draw, GEMM64_TEST_SEED, which `make regression SEED=...` sets; 0
/// where it is not set.
inline unsigned fresh_seed() {
  static const char* const text = std::getenv("GEMM64_TEST_SEED");
  return text == nullptr ? 0 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// Returns how many of `count` seeds are run, at least 1: one in as many as GEMM64_TEST_SHARE says,
/// which `make test` sets, else all. It also scales what that many seeds should reach at least.
inline unsigned seeds_to_run(unsigned count) {
  static const char* const text = std::getenv("GEMM64_TEST_SHARE");
  const bool all = text == nullptr || fresh_seed() != 0;
  const auto share = all ? 1UL : std::max(1UL, std::strtoul(text, nullptr, 10));
  return static_cast<unsigned>((count + share - 1) / share);
}

/// Returns what random cases should reach at least: `count`, which the known seeds do; of a fresh
/// one, which may draw fewer, a fourth.
inline unsigned at_least(unsigned count) { return fresh_seed() == 0 ? count : count / 4; }

/// Calls body(random) for each of `count` seeds, names the seed where it fails, and ends at the
/// first failure. With a fresh seed the random numbers are others.
template <class Body>
void for_all_seeds(unsigned first, unsigned count, Body body) {
  for (unsigned seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed) +
                 ", GEMM64_TEST_SEED=" + std::to_string(fresh_seed()));
    std::mt19937 random(seed + fresh_seed());
    body(random);
    if (testing::Test::HasFailure()) return;
  }
}

/// The same for the share of the seeds that is run.
template <class Body>
void for_seeds(unsigned first, unsigned count, Body body) {
  for_all_seeds(first, seeds_to_run(count), body);
}

}  // namespace gemm64

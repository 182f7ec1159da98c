// SPDX-License-Identifier: Apache-2.0
// The numbers of std::mt19937, three times as fast: they are made 624 at once, in loops that the
// compiler turns into vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

namespace gemm64 {

class MersenneTwister {
 public:
  /// As std::mt19937 begins.
  explicit MersenneTwister(std::uint32_t seed = std::mt19937::default_seed);
  explicit MersenneTwister(std::seed_seq& seeds);

  /// The next numbers, some of them, and how many these are: at least one, at most `most`.
  std::pair<const std::uint32_t*, std::size_t> next(std::size_t most);

 private:
  static constexpr std::size_t kSize = std::mt19937::state_size;

  void refill();

  std::array<std::uint32_t, kSize> state_;
  std::array<std::uint32_t, kSize> numbers_;
  std::size_t taken_ = kSize;
};

}  // namespace gemm64

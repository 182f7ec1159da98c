// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/mersenne_twister.hpp"

#include <algorithm>

namespace gemm64 {
namespace {

using Standard = std::mt19937;

constexpr std::uint32_t kUpper = ~std::uint32_t{0} << Standard::mask_bits;

std::uint32_t twisted(std::uint32_t word, std::uint32_t next, std::uint32_t far) {
  const std::uint32_t joined = (word & kUpper) | (next & ~kUpper);
  constexpr auto kMask = static_cast<std::uint32_t>(Standard::xor_mask);
  return far ^ (joined >> 1) ^ ((0 - (joined & 1)) & kMask);
}

}  // namespace

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  state_[0] = seed;
  for (std::uint32_t i = 1; i < kSize; ++i) {
    const std::uint32_t before = state_[i - 1];
    state_[i] = static_cast<std::uint32_t>(Standard::initialization_multiplier) *
                    (before ^ (before >> 30)) +
                i;
  }
}

MersenneTwister::MersenneTwister(std::seed_seq& seeds) {
  seeds.generate(state_.begin(), state_.end());
  const bool zero =
      (state_[0] & kUpper) == 0 &&
      std::all_of(state_.begin() + 1, state_.end(), [](std::uint32_t word) { return word == 0; });
  if (zero) state_[0] = std::uint32_t{1} << 31;  // which would stay so
}

void MersenneTwister::refill() {
  constexpr std::size_t kShift = Standard::shift_size;
  constexpr std::size_t kRest = kSize - kShift;
  for (std::size_t i = 0; i < kRest; ++i) {
    state_[i] = twisted(state_[i], state_[i + 1], state_[i + kShift]);
  }
  for (std::size_t i = kRest; i < kSize - 1; ++i) {
    state_[i] = twisted(state_[i], state_[i + 1], state_[i - kRest]);
  }
  state_[kSize - 1] = twisted(state_[kSize - 1], state_[0], state_[kShift - 1]);
  for (std::size_t i = 0; i < kSize; ++i) {
    std::uint32_t word = state_[i];
    word ^= word >> Standard::tempering_u;
    word ^= (word << Standard::tempering_s) & static_cast<std::uint32_t>(Standard::tempering_b);
    word ^= (word << Standard::tempering_t) & static_cast<std::uint32_t>(Standard::tempering_c);
    numbers_[i] = word ^ (word >> Standard::tempering_l);
  }
  taken_ = 0;
}

std::pair<const std::uint32_t*, std::size_t> MersenneTwister::next(std::size_t most) {
  if (taken_ == kSize) refill();
  const std::size_t count = std::min(most, kSize - taken_);
  const std::uint32_t* const first = numbers_.data() + taken_;
  taken_ += count;
  return {first, count};
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/initialize.hpp"

#include <cmath>
#include <vector>

namespace gemm64 {

MersenneTwister layer_generator(std::uint32_t seed, const std::string& layer_name) {
  std::vector<std::uint32_t> material = {seed};
  for (const char letter : layer_name) material.push_back(static_cast<unsigned char>(letter));
  std::seed_seq sequence(material.begin(), material.end());
  return MersenneTwister(sequence);
}

float initial_bound(std::size_t fan_in) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan_in)));
}

void fill_uniform(MersenneTwister& generator, float bound, float* values, std::size_t count) {
  // The upper 24 bits, centred: exact in float32, so that the product rounds once.
  constexpr std::int32_t kHalf = 1 << 23;
  const float step = bound / static_cast<float>(kHalf);
  while (count != 0) {
    const auto [bits, some] = generator.next(count);
    for (std::size_t i = 0; i < some; ++i) {
      values[i] = step * static_cast<float>(static_cast<std::int32_t>(bits[i] >> 8) - kHalf);
    }
    values += some;
    count -= some;
  }
}

void fill_int8(std::mt19937& generator, std::int8_t* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::int8_t>(generator() >> 24);
  }
}

}  // namespace gemm64

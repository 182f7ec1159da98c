// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/weight_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gemm64 {
namespace {

/// Calls function(first value, count, channel, whether each value has a channel of its own) for the
/// values of [...][channels][inner].
template <class Function>
void for_channels(std::int64_t size, std::int64_t channels, std::int64_t inner, Function function) {
  if (inner == 1) {
    for (std::int64_t i = 0; i < size; i += channels) function(i, channels, 0, true);
    return;
  }
  for (std::int64_t i = 0, row = 0; i < size; i += inner, ++row) {
    function(i, inner, row % channels, false);
  }
}

}  // namespace

std::vector<float> greatest_of_channels(const FloatValues& values, std::int64_t channels,
                                        std::int64_t inner) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::int64_t kLanes = 16;
  // A NaN is greater than nothing, so it is made infinite before.
  const auto magnitude = [](float value) {
    const float size = std::abs(value);
    return size < kInfinity ? size : kInfinity;
  };
  std::vector<float> found(static_cast<std::size_t>(channels));
  for_channels(values.size(), channels, inner,
               [&](std::int64_t first, std::int64_t count, std::int64_t channel, bool each) {
                 const float* const from = values.data() + first;
                 float* const to = found.data() + channel;
                 if (each) {
                   for (std::int64_t i = 0; i < count; ++i) {
                     to[i] = std::max(to[i], magnitude(from[i]));
                   }
                   return;
                 }
                 std::array<float, kLanes> lanes{};
                 std::int64_t i = 0;
                 for (; i + kLanes <= count; i += kLanes) {
                   for (std::int64_t lane = 0; lane < kLanes; ++lane) {
                     float& most = lanes[static_cast<std::size_t>(lane)];
                     most = std::max(most, magnitude(from[i + lane]));
                   }
                 }
                 for (; i < count; ++i) *to = std::max(*to, magnitude(from[i]));
                 *to = std::max(*to, *std::max_element(lanes.begin(), lanes.end()));
               });
  return found;
}

std::string in_steps(const FloatValues& values, const std::vector<float>& scales,
                     std::int64_t inner) {
  std::string bytes(static_cast<std::size_t>(values.size()), '\0');
  const auto steps = [](float value, float scale) {
    const float whole = std::nearbyint(value / scale);
    return static_cast<char>(static_cast<int>(std::clamp(whole, -127.0F, 127.0F)));
  };
  for_channels(values.size(), static_cast<std::int64_t>(scales.size()), inner,
               [&](std::int64_t first, std::int64_t count, std::int64_t channel, bool each) {
                 const float* const from = values.data() + first;
                 const float* const scale = scales.data() + channel;
                 char* const to = &bytes[static_cast<std::size_t>(first)];
                 if (each) {
                   for (std::int64_t i = 0; i < count; ++i) to[i] = steps(from[i], scale[i]);
                 } else {
                   for (std::int64_t i = 0; i < count; ++i) to[i] = steps(from[i], *scale);
                 }
               });
  return bytes;
}

}  // namespace gemm64

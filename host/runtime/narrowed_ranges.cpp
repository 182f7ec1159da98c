// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/narrowed_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/runtime/histogram.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kBinsOfPercentile = 2048;
constexpr std::size_t kBinsOfEntropy = 128;

bool is_finite(const std::pair<float, float>& range) {
  return std::isfinite(range.first) && std::isfinite(range.second);
}

/// The least magnitude of each value.
std::map<std::string, float> least_magnitudes(const ObservedNetwork& network,
                                              const NetworkInputs& inputs) {
  std::map<std::string, float> least;
  network.observe(inputs, [&](const std::string& name, const float* values, std::int64_t count) {
    float& known = least.try_emplace(name, std::numeric_limits<float>::infinity()).first->second;
    for (std::int64_t i = 0; i < count; ++i) {
      known = std::min(known, std::abs(values[i]));
    }
  });
  return least;
}

}  // namespace

Ranges narrowed_ranges(const ObservedNetwork& network, const NetworkInputs& inputs,
                       const Ranges& extremes, const RangeOptions& options) {
  if (options.method == RangeMethod::kMinMax) return extremes;
  const bool by_percentile = options.method == RangeMethod::kPercentile;
  const auto bins = options.bins != 0 ? static_cast<std::size_t>(options.bins)
                    : by_percentile   ? kBinsOfPercentile
                                      : kBinsOfEntropy;
  const std::map<std::string, float> least =
      by_percentile ? least_magnitudes(network, inputs) : std::map<std::string, float>();
  std::map<std::string, Histogram> histograms;
  network.observe(inputs, [&](const std::string& name, const float* values, std::int64_t count) {
    const std::pair<float, float>& range = extremes.at(name);
    if (!is_finite(range)) return;
    auto found = histograms.find(name);
    if (found == histograms.end()) {
      const float most = std::max(std::abs(range.first), std::abs(range.second));
      found =
          histograms.emplace(name, Histogram(by_percentile ? least.at(name) : -most, most, bins))
              .first;
    }
    found->second.add(values, count, by_percentile);
  });
  Ranges ranges = extremes;
  for (const auto& [name, histogram] : histograms) {
    std::pair<float, float>& range = ranges.at(name);
    std::pair<float, float> narrow;
    if (by_percentile) {
      const float most = histogram.percentile(options.percentile);
      narrow = {-most, most};
    } else {
      narrow = histogram.least_divergence();
    }
    range = {std::max(range.first, narrow.first), std::min(range.second, narrow.second)};
  }
  return ranges;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// How often numbers fall into each of equal bins, and the ranges that follow.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gemm64 {

class Histogram {
 public:
  /// `bins` equal bins from `first` to `last`; where these are equal, from half below to half
  /// above.
  Histogram(float first, float last, std::size_t bins);

  /// Counts numbers from `first` to `last`, both included; passes others over. `magnitudes`: counts
  /// these instead.
  void add(const float* values, std::int64_t count, bool magnitudes);

  const std::vector<std::uint64_t>& counts() const { return counts_; }
  /// Bin i reaches from edge i up to edge i + 1.
  const std::vector<float>& edges() const { return edges_; }

  /// The first edge at or above which `percentile` percent of all numbers are counted.
  float percentile(double percentile) const;
  /// The range around the middle, of 64 bins to each side or more, of which 128 steps tell most of
  /// the distribution: the least divergence between it, all outside counted at its ends, and what
  /// the steps keep of it.
  std::pair<float, float> least_divergence() const;

 private:
  std::vector<std::uint64_t> counts_;
  std::vector<float> edges_;
};

}  // namespace gemm64

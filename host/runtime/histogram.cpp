// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gemm64 {
namespace {

constexpr std::size_t kSteps = 128;

/// Zeros become small, and the others as much less in sum; empty where all are zero.
std::vector<float> smooth(const std::vector<std::uint64_t>& counts) {
  constexpr double kSmall = 0.0001;
  const auto zeros = std::count(counts.begin(), counts.end(), std::uint64_t{0});
  const auto others = static_cast<std::ptrdiff_t>(counts.size()) - zeros;
  if (others == 0) return {};
  const double less = kSmall * static_cast<double>(zeros) / static_cast<double>(others);
  std::vector<float> result;
  result.reserve(counts.size());
  for (const std::uint64_t count : counts) {
    result.push_back(static_cast<float>(count) + static_cast<float>(count == 0 ? kSmall : -less));
  }
  return result;
}

/// Kullback and Leibler's divergence of distribution q from p, both of any sum.
double divergence(const std::vector<float>& p, const std::vector<float>& q) {
  const auto sum = [](const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  const double p_sum = sum(p);
  const double q_sum = sum(q);
  double result = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double left = p[i] / p_sum;
    const double right = q[i] / q_sum;
    if (!(left > 0 && right > 0)) return std::numeric_limits<double>::infinity();
    result += left * std::log(left / right);
  }
  return result;
}

/// What kSteps steps keep of counts: each step's sum spread over its bins that `outside` leaves
/// with any.
std::vector<std::uint64_t> in_steps(const std::vector<std::uint64_t>& counts,
                                    const std::vector<std::uint64_t>& with_outside) {
  const std::size_t merged = counts.size() / kSteps;
  std::vector<std::uint64_t> result(counts.size());
  for (std::size_t step = 0; step < kSteps; ++step) {
    const auto at = [](auto& values, std::size_t i) {
      return values.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const std::size_t begin = step * merged;
    const std::size_t end = begin + merged;
    // The last step also counts the bins that are left over, though it has no place for them.
    const std::size_t until = step + 1 == kSteps ? counts.size() : end;
    const std::uint64_t sum =
        std::accumulate(at(counts, begin), at(counts, until), std::uint64_t{0});
    const auto present =
        merged - static_cast<std::size_t>(
                     std::count(at(with_outside, begin), at(with_outside, end), std::uint64_t{0}));
    if (present != 0) std::fill(at(result, begin), at(result, end), sum / present);
  }
  return result;
}

}  // namespace

Histogram::Histogram(float first, float last, std::size_t bins) : counts_(bins) {
  if (first == last) {
    first -= 0.5F;
    last += 0.5F;
  }
  const float step = (last - first) / static_cast<float>(bins);
  for (std::size_t i = 0; i < bins; ++i) edges_.push_back(static_cast<float>(i) * step + first);
  edges_.push_back(last);
}

void Histogram::add(const float* values, std::int64_t count, bool magnitudes) {
  const float first = edges_.front();
  const float last = edges_.back();
  const auto bins = counts_.size();
  const float width = last - first;
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = magnitudes ? std::abs(values[i]) : values[i];
    if (!(value >= first && value <= last)) continue;
    // Division may miss an edge; the edges decide.
    auto bin = std::min(
        bins - 1, static_cast<std::size_t>((value - first) / width * static_cast<float>(bins)));
    while (bin > 0 && value < edges_[bin]) --bin;
    while (bin + 1 < bins && value >= edges_[bin + 1]) ++bin;
    ++counts_[bin];
  }
}

float Histogram::percentile(double percentile) const {
  const auto total =
      static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}));
  double sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    sum += static_cast<double>(counts_[i]) / total;
    if (sum >= percentile / 100) return edges_[i];
  }
  return edges_.back();
}

std::pair<float, float> Histogram::least_divergence() const {
  const std::size_t middle = counts_.size() / 2;
  const auto sum = [&](std::size_t begin, std::size_t end) {
    return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(begin),
                           counts_.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{0});
  };
  std::pair<float, float> best{edges_.front(), edges_.back()};
  double least = std::numeric_limits<double>::infinity();
  bool any = false;
  for (std::size_t half = kSteps / 2; half <= middle; ++half) {
    const std::size_t begin = middle - half;
    const std::size_t end = std::min(middle + half + 1, counts_.size());
    const std::vector<std::uint64_t> inside(counts_.begin() + static_cast<std::ptrdiff_t>(begin),
                                            counts_.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<std::uint64_t> p = inside;
    p.front() += sum(0, begin);
    p.back() += sum(end, counts_.size());
    const std::vector<float> smooth_p = smooth(p);
    const std::vector<float> smooth_q = smooth(in_steps(inside, p));
    const double found = smooth_p.empty() || smooth_q.empty()
                             ? std::numeric_limits<double>::infinity()
                             : divergence(smooth_p, smooth_q);
    // Where no range has any, the first one is taken.
    if (any && !(found < least)) continue;
    any = true;
    least = found;
    best = {edges_[begin], edges_[end]};
  }
  return best;
}

}  // namespace gemm64

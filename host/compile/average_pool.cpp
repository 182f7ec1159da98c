// SPDX-License-Identifier: Apache-2.0
#include "host/compile/average_pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "host/kernels/quantized_average.hpp"

namespace gemm64 {
namespace {

/// Values of 8 bits, less their zero point: from `least` to `most`, of which `count` are added.
struct Window {
  std::int64_t least, most, count;

  std::int64_t least_sum() const { return least * count; }
  std::int64_t most_sum() const { return most * count; }
};

/// The largest magnitude that `some` of the values can add up to, where all of them give `sum`.
std::int64_t most_of(const Window& w, std::int64_t some, std::int64_t sum) {
  const std::int64_t others = w.count - some;
  const std::int64_t low = std::max(some * w.least, sum - others * w.most);
  const std::int64_t high = std::min(some * w.most, sum - others * w.least);
  return std::max(std::abs(low), std::abs(high));
}

/// The largest sum of the values' magnitudes, where the values give `sum`.
double most_magnitudes(const Window& w, std::int64_t sum) {
  if (w.least >= 0) return static_cast<double>(sum);
  const double below = static_cast<double>(-w.least) / static_cast<double>(w.most - w.least);
  return static_cast<double>(sum) + 2 * below * static_cast<double>(w.most * w.count - sum);
}

/// Is each product of a scale with a sum of values a float32?
bool is_exact(float scale, const Window& w) {
  int exponent = 0;
  auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(scale, &exponent), 24));
  while (digits % 2 == 0) digits /= 2;
  const std::int64_t most = std::max(std::abs(w.least_sum()), std::abs(w.most_sum()));
  return digits * most <= std::int64_t{1} << 24;
}

/// How far a float32 sum of dequantized values may lie from the exact one, in steps of the scale:
/// each product and each addition but the first is rounded once.
double most_error(const Window& w, std::int64_t sum) {
  constexpr double kRounded = 1.0 / (1 << 24), kOfErrors = 1.001;
  double rounded = most_magnitudes(w, sum);
  for (std::int64_t some = 2; some <= w.count; ++some) {
    rounded += static_cast<double>(most_of(w, some, sum));
  }
  return rounded * kRounded * kOfErrors;
}

/// The float32 values on both sides of another.
float below(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) <= value
             ? nearest
             : std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}
float above(double value) { return -below(-value); }

/// What the kernel gives of each sum, from the least one on; nothing where that depends on which
/// values make it up.
template <class T>
std::optional<std::vector<std::int32_t>> means(const Quantization& from, const Quantization& to,
                                               const Window& w) {
  const bool exact = is_exact(from.scale, w);
  std::vector<std::int32_t> results;
  for (std::int64_t sum = w.least_sum(); sum <= w.most_sum(); ++sum) {
    const double error = exact ? 0 : most_error(w, sum);
    const double scale = static_cast<double>(from.scale), at = static_cast<double>(sum);
    const T low = quantized_mean<T>(below((at - error) * scale), w.count, to);
    const T high = quantized_mean<T>(above((at + error) * scale), w.count, to);
    if (low != high) return std::nullopt;
    results.push_back(low);
  }
  return results;
}

template <class T>
bool give(const AverageFactors& factors, const Window& w, std::int64_t moved,
          const std::vector<std::int32_t>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t sum = w.least_sum() + static_cast<std::int64_t>(i) + moved;
    const float scaled = static_cast<float>(sum) * factors.scale;
    if (to_quantized<T>(scaled, factors.zero) != wanted[i]) return false;
  }
  return true;
}

template <class T>
std::optional<AverageFactors> factors_of(const Quantization& from, const Quantization& to,
                                         const Window& w, std::int64_t zero) {
  const auto wanted = means<T>(from, to, w);
  if (!wanted) return std::nullopt;
  // The requantizer rounds to even before it adds the zero point, the kernel after it: where a
  // mean is between two values, one of two zero points gives the same, with a bias that makes up
  // for the step between them.
  const float scale = from.scale / (to.scale * static_cast<float>(w.count));
  for (const int step : {0, 1, -1}) {
    const auto moved = static_cast<std::int64_t>(std::nearbyint(step / static_cast<double>(scale)));
    const AverageFactors factors{static_cast<std::int32_t>(moved - w.count * zero), scale,
                                 to.zero - step};
    if (give<T>(factors, w, moved, *wanted)) return factors;
  }
  return std::nullopt;
}

bool is_positive(float scale) { return std::isnormal(scale) && scale > 0; }

}  // namespace

std::optional<AverageFactors> whole_map_factors(const Quantization& from, const Quantization& to,
                                                std::uint32_t count) {
  const float scale = whole_map_scale(from, to, count);
  if (!std::isfinite(scale) || std::signbit(scale)) return std::nullopt;
  return AverageFactors{-static_cast<std::int32_t>(count) * from.zero, scale, to.zero};
}

std::optional<AverageFactors> window_factors(const Quantization& from, const Quantization& to,
                                             std::uint32_t count, DataType type) {
  if (!is_positive(from.scale) || !is_positive(to.scale) ||
      !is_positive(from.scale / (to.scale * static_cast<float>(count)))) {
    return std::nullopt;
  }
  const Window w{std::numeric_limits<std::int8_t>::min() - from.zero,
                 std::numeric_limits<std::int8_t>::max() - from.zero, count};
  return type == onnx::TensorProto::INT8 ? factors_of<std::int8_t>(from, to, w, from.zero)
                                         : factors_of<std::uint8_t>(from, to, w, from.zero);
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/float_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "host/kernels/float_functions.hpp"

namespace gemm64 {
namespace {

/// Halves on halves, then neighbours of neighbours: (0 + 2) + (1 + 3) of four.
float sum_of_eight(const float* lanes) {
  float four[4];
  for (int i = 0; i < 4; ++i) four[i] = lanes[i] + lanes[i + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/// The sum of (x - mean)^2 in 8 parts, fused; of what is left over, four are added one by one and
/// not fused, as the compiler of that kernel made its loop, and the last three at most fused again.
float squares(const float* from, std::int64_t length, float mean) {
  float lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= length; i += 8) {
    for (int lane = 0; lane < 8; ++lane) {
      const float distance = from[i + lane] - mean;
      lanes[lane] = std::fma(distance, distance, lanes[lane]);
    }
  }
  float sum = sum_of_eight(lanes);
  for (const std::int64_t fours = length / 4 * 4; i < fours; ++i) {
    const float distance = from[i] - mean;
    sum += distance * distance;
  }
  for (; i < length; ++i) {
    const float distance = from[i] - mean;
    sum = std::fma(distance, distance, sum);
  }
  return sum;
}

float mean_of(const float* from, std::int64_t length) {
  double lanes[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= length; i += 4) {
    for (int lane = 0; lane < 4; ++lane) lanes[lane] += static_cast<double>(from[i + lane]);
  }
  double sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (; i < length; ++i) sum += static_cast<double>(from[i]);
  return static_cast<float>(sum / static_cast<double>(length));
}

/// e^(x - largest) into `to`, where that is not null; their sum.
float exponentials(const float* from, float* to, std::int64_t length, float largest) {
  float lanes[16] = {};
  const auto add = [&](std::int64_t i, int count) {
    for (int lane = 0; lane < count; ++lane) {
      const float y = float_functions::exp(from[i + lane] - largest);
      lanes[lane] += y;
      if (to != nullptr) to[i + lane] = y;
    }
  };
  std::int64_t i = 0;
  for (; i + 16 <= length; i += 16) add(i, 16);
  add(i, static_cast<int>(length - i));
  float eight[8];
  for (int lane = 0; lane < 8; ++lane) eight[lane] = lanes[lane] + lanes[lane + 8];
  return ((eight[0] + eight[1]) + (eight[2] + eight[3])) +
         ((eight[4] + eight[5]) + (eight[6] + eight[7]));
}

float largest_of(const float* from, std::int64_t length) {
  float largest = std::numeric_limits<float>::lowest();
  for (std::int64_t i = 0; i < length; ++i) largest = std::max(largest, from[i]);
  return largest;
}

}  // namespace

RowStatistics layer_normalize_in_order(const float* from, float* to, std::int64_t length,
                                       const float* scale, const float* bias, float epsilon) {
  float mean = 0;
  float sum = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const float distance = from[i] - mean;
    mean += distance / static_cast<float>(i + 1);
    sum += distance * (from[i] - mean);
  }
  const float deviation = std::sqrt(sum / static_cast<float>(length) + epsilon);
  for (std::int64_t i = 0; i < length; ++i) {
    const float y = (from[i] - mean) / deviation * scale[i];
    to[i] = bias == nullptr ? y : y + bias[i];
  }
  return {mean, 1 / deviation};
}

RowStatistics rms_normalize_in_order(const float* from, float* to, std::int64_t length,
                                     const float* scale, float epsilon) {
  float sum = 0;
  for (std::int64_t i = 0; i < length; ++i) sum += from[i] * from[i];
  const float root = std::sqrt(sum / static_cast<float>(length) + epsilon);
  for (std::int64_t i = 0; i < length; ++i) to[i] = from[i] / root * scale[i];
  return {0, 1 / root};
}

RowStatistics layer_normalize(const float* from, float* to, std::int64_t length, const float* scale,
                              const float* bias, float epsilon) {
  if (length < 8) return layer_normalize_in_order(from, to, length, scale, bias, epsilon);
  const float mean = mean_of(from, length);
  const float inverse =
      1 / std::sqrt(squares(from, length, mean) / static_cast<float>(length) + epsilon);
  for (std::int64_t i = 0; i < length; ++i) {
    const float y = (from[i] - mean) * inverse;
    to[i] = bias == nullptr ? y * scale[i] : std::fma(y, scale[i], bias[i]);
  }
  return {mean, inverse};
}

RowStatistics rms_normalize(const float* from, float* to, std::int64_t length, const float* scale,
                            float epsilon) {
  if (length < 16) return rms_normalize_in_order(from, to, length, scale, epsilon);
  const float inverse =
      1 / std::sqrt(squares(from, length, 0) / static_cast<float>(length) + epsilon);
  for (std::int64_t i = 0; i < length; ++i) to[i] = from[i] * inverse * scale[i];
  return {0, inverse};
}

void softmax(const float* from, float* to, std::int64_t length) {
  const float factor = 1 / exponentials(from, to, length, largest_of(from, length));
  for (std::int64_t i = 0; i < length; ++i) to[i] *= factor;
}

void log_softmax(const float* from, float* to, std::int64_t length) {
  const float largest = largest_of(from, length);
  const float logarithm = std::log(exponentials(from, nullptr, length, largest));
  for (std::int64_t i = 0; i < length; ++i) to[i] = from[i] - largest - logarithm;
}

float sum(const float* from, std::int64_t length, std::int64_t place) {
  const std::int64_t before = std::min((4 - place % 4) % 4, length);
  const std::int64_t fours = (length - before) / 4;
  if (fours == 0) return length == 0 ? 0 : std::accumulate(from + 1, from + length, from[0]);
  const float* const aligned = from + before;
  float lanes[8] = {};
  std::copy_n(aligned, fours == 1 ? 4 : 8, lanes);
  std::int64_t i = 2;
  for (; i + 2 <= fours; i += 2) {
    for (int lane = 0; lane < 8; ++lane) lanes[lane] += aligned[i * 4 + lane];
  }
  for (int lane = 0; fours > 1 && lane < 4; ++lane) lanes[lane] += lanes[lane + 4];
  for (int lane = 0; i < fours && lane < 4; ++lane) lanes[lane] += aligned[i * 4 + lane];
  float result = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (std::int64_t at = 0; at < before; ++at) result += from[at];
  for (std::int64_t at = before + fours * 4; at < length; ++at) result += from[at];
  return result;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample, one axis after the other: each value of the result is a weighted sum of
// values of the input along the axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// How far an axis is stretched, and the part of the input that is seen (tf_crop_and_resize).
struct Stretch {
  std::size_t axis = 0;
  std::int64_t from = 0, to = 0;
  double scale = 1;
  double begin = 0, end = 1;
};

/// What the attributes say.
struct Mode {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool exclude_outside = false;
  float extrapolation = 0;
};

/// Where value `at` of the result lies in the input.
double position(const NodeContext& node, const Mode& mode, const Stretch& stretch,
                std::int64_t at) {
  const auto x = static_cast<double>(at);
  const auto from = static_cast<double>(stretch.from);
  const auto to = static_cast<double>(stretch.to);
  const std::string& how = mode.coordinates;
  if (how == "half_pixel") return (x + 0.5) / stretch.scale - 0.5;
  if (how == "asymmetric") return x / stretch.scale;
  if (how == "align_corners") {
    // Of the size before rounding, where the scale was given.
    const double whole = from * stretch.scale;
    return stretch.to <= 1 ? 0 : x * (from - 1) / (whole - 1);
  }
  if (how == "pytorch_half_pixel") return stretch.to <= 1 ? 0 : (x + 0.5) / stretch.scale - 0.5;
  if (how == "half_pixel_symmetric") {
    const double adjustment = to / (from * stretch.scale);
    const double offset = from / 2 * (1 - adjustment);
    return offset + (x + 0.5) / stretch.scale - 0.5;
  }
  if (how == "tf_half_pixel_for_nn") return (x + 0.5) / stretch.scale;
  if (how == "tf_crop_and_resize") {
    if (stretch.to <= 1) return 0.5 * (stretch.begin + stretch.end) * (from - 1);
    return stretch.begin * (from - 1) + x * (stretch.end - stretch.begin) * (from - 1) / (to - 1);
  }
  throw failure(node,
                fmt::format("coordinate_transformation_mode '{}' is unknown", printable(how)));
}

/// Indices of the input and their weights.
struct Taps {
  Dims indices;
  std::vector<double> weights;
};

std::int64_t nearest_index(const NodeContext& node, const std::string& how, double x) {
  const double below = std::floor(x);
  if (how == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(x - 0.5));
  if (how == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(x + 0.5));
  if (how == "floor") return static_cast<std::int64_t>(below);
  if (how == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  throw failure(node, fmt::format("nearest_mode '{}' is unknown", printable(how)));
}

/// The weights of Keys' cubic convolution for four neighbours, `t` behind the second.
std::vector<double> cubic_weights(double a, double t) {
  const auto inner = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto outer = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {outer(1 + t), inner(t), inner(1 - t), outer(2 - t)};
}

Taps taps_at(const NodeContext& node, const Mode& mode, const Stretch& stretch, double x) {
  Taps taps;
  const double below = std::floor(x);
  const auto first = static_cast<std::int64_t>(below);
  if (mode.mode == "nearest") {
    taps = {{nearest_index(node, mode.nearest, x)}, {1}};
  } else if (mode.mode == "linear") {
    taps = {{first, first + 1}, {1 - (x - below), x - below}};
  } else {
    taps = {{first - 1, first, first + 1, first + 2}, cubic_weights(mode.cubic, x - below)};
  }
  double sum = 0;
  for (std::size_t i = 0; i < taps.indices.size(); ++i) {
    const bool outside = taps.indices[i] < 0 || taps.indices[i] >= stretch.from;
    if (outside && mode.exclude_outside) taps.weights[i] = 0;
    sum += taps.weights[i];
    taps.indices[i] = std::clamp<std::int64_t>(taps.indices[i], 0, stretch.from - 1);
  }
  if (mode.exclude_outside) {
    for (double& weight : taps.weights) weight /= sum;
  }
  return taps;
}

template <class T>
Tensor resized_along(const NodeContext& node, const Tensor& x, const Mode& mode,
                     const Stretch& stretch) {
  Dims dims = x.dims();
  dims[stretch.axis] = stretch.to;
  Tensor result(x.type(), dims);
  if (result.elements() == 0) return result;
  std::int64_t inner = 1;
  for (std::size_t axis = stretch.axis + 1; axis < x.rank(); ++axis) inner *= x.dim(axis);
  const std::int64_t outer = x.elements() / (inner * stretch.from);
  for (std::int64_t at = 0; at < stretch.to; ++at) {
    const double place = position(node, mode, stretch, at);
    const bool outside = mode.coordinates == "tf_crop_and_resize" &&
                         (place < 0 || place > static_cast<double>(stretch.from - 1));
    const Taps taps = taps_at(node, mode, stretch, outside ? 0 : place);
    for (std::int64_t o = 0; o < outer; ++o) {
      T* to = result.mutable_values<T>() + (o * stretch.to + at) * inner;
      const T* from = x.values<T>() + o * stretch.from * inner;
      for (std::int64_t i = 0; i < inner; ++i) {
        if (taps.indices.size() == 1) {
          to[i] = from[taps.indices[0] * inner + i];
        } else {
          double sum = 0;
          for (std::size_t tap = 0; tap < taps.indices.size(); ++tap) {
            sum += taps.weights[tap] * static_cast<double>(from[taps.indices[tap] * inner + i]);
          }
          to[i] = static_cast<T>(sum);
        }
        if (outside) to[i] = static_cast<T>(mode.extrapolation);
      }
    }
  }
  return result;
}

/// Two values of an axis that are mixed, and how much of the first and of the second.
struct Pair {
  std::int64_t first, second;
  float of_first, of_second;
};

std::vector<Pair> pairs_along(const NodeContext& node, const Mode& mode, const Stretch& stretch) {
  std::vector<Pair> pairs;
  const auto scale = static_cast<float>(stretch.scale);
  const auto last = static_cast<float>(stretch.from - 1);
  for (std::int64_t at = 0; at < stretch.to; ++at) {
    const auto x = static_cast<float>(at);
    float place = static_cast<float>(position(node, mode, stretch, at));
    // ONNX Runtime computes in float32; where that is a formula of one division, so is this.
    if (scale == 1)
      place = x;
    else if (mode.coordinates == "asymmetric")
      place = x / scale;
    else if (mode.coordinates == "half_pixel")
      place = (x + 0.5F) / scale - 0.5F;
    place = std::clamp(place, 0.0F, last);
    const auto first = std::min(static_cast<std::int64_t>(place), stretch.from - 1);
    const std::int64_t second = std::min(first + 1, stretch.from - 1);
    Pair pair{first, second, std::abs(place - static_cast<float>(second)),
              std::abs(place - static_cast<float>(first))};
    if (first == second) pair.of_first = pair.of_second = 0.5F;
    pairs.push_back(pair);
  }
  return pairs;
}

/// Maps of float32 between four values each, in ONNX Runtime's order.
Tensor bilinear(const NodeContext& node, const Tensor& x, const Mode& mode, const Stretch& down,
                const Stretch& across) {
  Dims dims = x.dims();
  dims[down.axis] = down.to;
  dims[across.axis] = across.to;
  Tensor result(x.type(), dims);
  if (result.elements() == 0) return result;
  const std::vector<Pair> rows = pairs_along(node, mode, down);
  const std::vector<Pair> columns = pairs_along(node, mode, across);
  const float* from = x.values<float>();
  float* to = result.mutable_values<float>();
  for (std::int64_t map = x.elements() / (down.from * across.from); map-- > 0;) {
    for (const Pair& row : rows) {
      const float* const upper = from + row.first * across.from;
      const float* const lower = from + row.second * across.from;
      for (const Pair& column : columns) {
        *to++ = column.of_first * row.of_first * upper[column.first] +
                column.of_second * row.of_first * upper[column.second] +
                column.of_first * row.of_second * lower[column.first] +
                column.of_second * row.of_second * lower[column.second];
      }
    }
    from += down.from * across.from;
  }
  return result;
}

/// The last two axes, if these are all that is stretched, in a way that bilinear() computes.
std::optional<std::pair<Stretch, Stretch>> bilinear_axes(const Tensor& x, const Mode& mode,
                                                         const std::vector<Stretch>& stretches) {
  if (x.type() != onnx::TensorProto::FLOAT || mode.mode != "linear" || mode.exclude_outside ||
      (mode.coordinates != "asymmetric" && mode.coordinates != "half_pixel") ||
      (x.rank() != 2 && x.rank() != 4) || x.elements() == 0 || stretches.size() != x.rank()) {
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis < stretches.size(); ++axis) {
    if (stretches[axis].axis != axis || (axis + 2 < x.rank() && stretches[axis].scale != 1)) {
      return std::nullopt;
    }
  }
  return std::pair(stretches[x.rank() - 2], stretches[x.rank() - 1]);
}

std::vector<double> numbers(const NodeContext& node, const Tensor& tensor) {
  return visit_floats(node, tensor.type(), [&](auto zero) {
    const auto* values = tensor.values<decltype(zero)>();
    return std::vector<double>(values, values + tensor.elements());
  });
}

Tensor resized(const NodeContext& node, const Tensor& x, const Mode& mode,
               const std::vector<Stretch>& stretches) {
  if (mode.mode != "nearest" && mode.mode != "linear" && mode.mode != "cubic") {
    throw failure(node, fmt::format("mode '{}' is unknown; use nearest, linear or cubic",
                                    printable(mode.mode)));
  }
  if (const auto axes = bilinear_axes(x, mode, stretches)) {
    return bilinear(node, x, mode, axes->first, axes->second);
  }
  Tensor result = x;
  for (const Stretch& stretch : stretches) {
    const bool whole = stretch.begin == 0 && stretch.end == 1;
    if (stretch.from == stretch.to && stretch.scale == 1 && whole) continue;
    if (stretch.from == 0 && stretch.to != 0) {
      throw failure(node, fmt::format("axis {} of {} is empty", stretch.axis, describe(x)));
    }
    result = visit_types<float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t>(
        node, x.type(),
        [&](auto zero) { return resized_along<decltype(zero)>(node, result, mode, stretch); });
  }
  return result;
}

Stretch by_scale(const NodeContext& node, const Tensor& x, std::size_t axis, double scale) {
  const double size = std::floor(static_cast<double>(x.dim(axis)) * scale);
  if (!(scale > 0) || size > 0x1p40) throw failure(node, fmt::format("a scale of {}", scale));
  Stretch stretch;
  stretch.axis = axis;
  stretch.from = x.dim(axis);
  stretch.to = static_cast<std::int64_t>(size);
  stretch.scale = scale;
  return stretch;
}

/// The sizes asked for, under a policy that may keep the ratio of the axes.
void fit_sizes(const NodeContext& node, const Dims& sizes, std::vector<Stretch>& stretches) {
  const std::string policy =
      attribute(*node.node, "keep_aspect_ratio_policy", std::string("stretch"));
  const auto ratio = [&](std::size_t i) {
    return static_cast<double>(sizes[i]) / static_cast<double>(stretches[i].from);
  };
  double common = ratio(0);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    common = policy == "not_larger" ? std::min(common, ratio(i)) : std::max(common, ratio(i));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Stretch& stretch = stretches[i];
    stretch.to = sizes[i];
    stretch.scale = ratio(i);
    if (policy == "stretch") continue;
    stretch.scale = common;
    stretch.to =
        static_cast<std::int64_t>(std::floor(common * static_cast<double>(stretch.from) + 0.5));
  }
}

Mode mode_of(const NodeContext& node) {
  Mode mode;
  mode.mode = attribute(*node.node, "mode", std::string("nearest"));
  // Resize of opset 10 had no choice yet.
  mode.coordinates = node.opset < 11 ? "asymmetric"
                                     : attribute(*node.node, "coordinate_transformation_mode",
                                                 std::string("half_pixel"));
  mode.nearest = node.opset < 11
                     ? "floor"
                     : attribute(*node.node, "nearest_mode", std::string("round_prefer_floor"));
  mode.cubic = static_cast<double>(attribute(*node.node, "cubic_coeff_a", -0.75F));
  mode.exclude_outside = attribute(*node.node, "exclude_outside", std::int64_t{0}) != 0;
  mode.extrapolation = attribute(*node.node, "extrapolation_value", 0.0F);
  if (attribute(*node.node, "antialias", std::int64_t{0}) != 0) {
    throw failure(node, "antialias is not supported");
  }
  return mode;
}

std::vector<double> all_scales(const NodeContext& node, const Tensor& scales, std::size_t axes) {
  std::vector<double> values = numbers(node, scales);
  if (values.size() != axes) {
    throw failure(node, fmt::format("{} scales for {} axes", values.size(), axes));
  }
  return values;
}

}  // namespace

Tensors resize(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const bool old = node.opset < 11;
  Dims axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  axes = attribute(*node.node, "axes", axes);
  const Tensor& sizes = optional_input(inputs, 3);
  const Tensor& scales = optional_input(inputs, old ? 1 : 2);
  const bool by_sizes = sizes.present() && sizes.elements() != 0;
  std::vector<Stretch> stretches;
  for (const std::int64_t axis : axes) {
    stretches.push_back(by_scale(node, x, checked_axis(node, axis, x.rank()), 1));
  }
  if (by_sizes) {
    const Dims wanted = integers(node, sizes);
    if (wanted.size() != axes.size() ||
        std::any_of(wanted.begin(), wanted.end(), [](std::int64_t size) { return size < 0; })) {
      throw failure(node, fmt::format("sizes {} for {} axes", dims_text(wanted), axes.size()));
    }
    if (!wanted.empty()) fit_sizes(node, wanted, stretches);
  } else {
    const std::vector<double> factors = all_scales(node, scales, axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      stretches[i] = by_scale(node, x, stretches[i].axis, factors[i]);
    }
  }
  const Mode mode = mode_of(node);
  if (mode.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = numbers(node, input(node, inputs, 1));
    if (roi.size() != 2 * axes.size()) {
      throw failure(node, fmt::format("roi has {} numbers for {} axes", roi.size(), axes.size()));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      stretches[i].begin = roi[i];
      stretches[i].end = roi[axes.size() + i];
    }
  }
  return {resized(node, x, mode, stretches)};
}

Tensors upsample(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  std::vector<double> scales;
  if (node.opset >= 9) {
    scales = all_scales(node, input(node, inputs, 1), x.rank());
  } else if (const auto* given = find_attribute(node, "scales")) {
    scales.assign(given->floats().begin(), given->floats().end());
  }
  if (scales.size() != x.rank()) {
    throw failure(node, fmt::format("{} scales for {}", scales.size(), describe(x)));
  }
  Mode mode;
  mode.mode = attribute(*node.node, "mode", std::string("nearest"));
  mode.coordinates = "asymmetric";
  mode.nearest = "floor";
  std::vector<Stretch> stretches;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    stretches.push_back(by_scale(node, x, axis, scales[axis]));
  }
  return {resized(node, x, mode, stretches)};
}

}  // namespace host
}  // namespace gemm64

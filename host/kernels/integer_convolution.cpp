// SPDX-License-Identifier: Apache-2.0
// Convolutions of quantized tensors as products: the values under each window are a row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "host/kernels/integer_product.hpp"
#include "host/kernels/window.hpp"

namespace gemm64 {
namespace {

std::int64_t product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

/// For each window along one axis and each position in its kernel, where that is in the input; -1
/// in the padding.
std::vector<Dims> places_along(const SpatialWindow& window, std::size_t axis, std::int64_t input) {
  std::vector<Dims> places(static_cast<std::size_t>(window.output[axis]));
  for (std::int64_t at = 0; at < window.output[axis]; ++at) {
    for (std::int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
      const std::int64_t place =
          at * window.strides[axis] - window.begin[axis] + tap * window.dilations[axis];
      places[static_cast<std::size_t>(at)].push_back(
          place < input ? std::max<std::int64_t>(place, -1) : -1);
    }
  }
  return places;
}

/// The input of a convolution of one or two spatial axes, or three, whose first two are seen here
/// as depth and height; axes that are missing have one window of one value.
struct Geometry {
  std::array<std::int64_t, 3> input{1, 1, 1};
  std::array<std::vector<Dims>, 3> places{{{{0}}, {{0}}, {{0}}}};
  std::int64_t taps = 1;
  std::int64_t windows = 1;
};

Geometry geometry(const SpatialWindow& window, const Dims& x) {
  Geometry result;
  const std::size_t axes = window.kernel.size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::size_t to = 3 - axes + axis;
    result.input[to] = x[axis + 2];
    result.places[to] = places_along(window, axis, x[axis + 2]);
  }
  result.taps = product(window.kernel);
  result.windows = product(window.output);
  return result;
}

/// The values under window `at` over `channels` planes, channel by channel; `zero` in the padding.
template <class T>
T* gather(const Geometry& geometry, const T* planes, std::int64_t channels, std::int32_t zero,
          std::int64_t at, T* to) {
  const auto& [depths, heights, widths] = geometry.places;
  const auto outputs = static_cast<std::int64_t>(widths.size());
  const auto lines = static_cast<std::int64_t>(heights.size());
  const auto [depth, height, width] = geometry.input;
  std::vector<std::int64_t> offsets;
  for (const std::int64_t z : depths[static_cast<std::size_t>(at / outputs / lines)]) {
    for (const std::int64_t y : heights[static_cast<std::size_t>(at / outputs % lines)]) {
      for (const std::int64_t x : widths[static_cast<std::size_t>(at % outputs)]) {
        offsets.push_back(z < 0 || y < 0 || x < 0 ? -1 : (z * height + y) * width + x);
      }
    }
  }
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const T* from = planes + channel * depth * height * width;
    for (const std::int64_t offset : offsets) {
      *to++ = offset < 0 ? static_cast<T>(zero) : from[offset];
    }
  }
  return to;
}

/// The sums from a product for each group: windows as rows, with the zero point in the padding,
/// times the filters.
template <class X>
Tensor sums_by_products(const NodeContext& node, const IntegerOperand& x,
                        const IntegerOperand& weights, std::int64_t groups, const Geometry& places,
                        Tensor result) {
  const Dims& shape = x.values.dims();
  const std::int64_t filters = weights.values.dim(0) / groups, channels = shape[1] / groups;
  const std::int64_t length = channels * places.taps;
  const std::int64_t plane = x.values.elements() / shape[0] / shape[1];
  Tensor rows(x.values.type(), {shape[0] * places.windows, length});
  Tensor own(weights.values.type(), {filters, length});
  for (std::int64_t group = 0; group < groups; ++group) {
    X* to = rows.mutable_values<X>();
    for (std::int64_t image = 0; image < shape[0]; ++image) {
      const X* const planes = x.values.values<X>() + (image * shape[1] + group * channels) * plane;
      for (std::int64_t window = 0; window < places.windows; ++window) {
        to = gather(places, planes, channels, x.zeros[0], window, to);
      }
    }
    std::copy_n(weights.values.raw() + group * own.elements(), own.elements(), own.mutable_raw());
    std::vector<std::int32_t> zeros = weights.zeros;
    if (zeros.size() != 1) {
      zeros.assign(weights.zeros.begin() + group * filters,
                   weights.zeros.begin() + (group + 1) * filters);
    }
    const Tensor sums = matrix_sums(node, {rows, x.zeros}, {own, std::move(zeros)}, true);
    using Sums = Eigen::Map<const MatrixI32>;
    const std::int64_t of_image = places.windows * filters;
    for (std::int64_t image = 0; image < shape[0]; ++image) {
      Eigen::Map<MatrixI32>(
          result.mutable_values<std::int32_t>() + (image * groups + group) * of_image, filters,
          places.windows) =
          Sums(sums.values<std::int32_t>() + image * of_image, places.windows, filters).transpose();
    }
  }
  return result;
}

template <class X>
Tensor convolve(const NodeContext& node, const IntegerOperand& x, const IntegerOperand& weights,
                std::int64_t groups) {
  const Dims& shape = x.values.dims();
  const SpatialWindow window = make_window(
      node, shape, Dims(weights.values.dims().begin() + 2, weights.values.dims().end()));
  Dims dims{shape[0], weights.values.dim(0)};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  Tensor result(onnx::TensorProto::INT32, dims);
  if (result.elements() == 0) return result;
  return sums_by_products<X>(node, x, weights, groups, geometry(window, shape), std::move(result));
}

}  // namespace

Tensor convolution_sums(const NodeContext& node, const IntegerOperand& x,
                        const IntegerOperand& weights) {
  const Dims& shape = x.values.dims();
  const Dims& filter = weights.values.dims();
  const std::int64_t groups = attribute(*node.node, "group", std::int64_t{1});
  if (shape.size() < 3 || shape.size() > 5 || filter.size() != shape.size()) {
    throw failure(node, fmt::format("its input is {} and its weights {}; convolutions of 1, 2 or 3 "
                                    "spatial axes can run",
                                    describe(x.values), describe(weights.values)));
  }
  if (groups < 1 || filter[0] % groups != 0 || shape[1] % groups != 0 ||
      shape[1] / groups != filter[1]) {
    throw failure(node, fmt::format("{} channels in {} groups do not fit weights of {}", shape[1],
                                    groups, dims_text(filter)));
  }
  const Dims kernel(filter.begin() + 2, filter.end());
  if (attribute(*node.node, "kernel_shape", kernel) != kernel) {
    throw failure(node, fmt::format("kernel_shape does not fit weights of {}", dims_text(filter)));
  }
  if (x.zeros.size() != 1 ||
      (weights.zeros.size() != 1 && static_cast<std::int64_t>(weights.zeros.size()) != filter[0])) {
    throw failure(node, fmt::format("{} and {} zero points do not fit one input and {} filters",
                                    x.zeros.size(), weights.zeros.size(), filter[0]));
  }
  return visit_bytes(node, x.values.type(), [&](auto x_kind) {
    return convolve<decltype(x_kind)>(node, x, weights, groups);
  });
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Means of quantized windows, and softmax.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "host/kernels/quantized_average.hpp"
#include "host/kernels/window.hpp"

namespace gemm64 {
namespace host {
namespace {

void refuse_channels_last(const NodeContext& node) {
  if (attribute(*node.node, "channels_last", std::int64_t{0}) != 0) {
    throw failure(node, "channels_last is not supported");
  }
}

const Tensor& checked_planes(const NodeContext& node, const Tensors& inputs) {
  refuse_channels_last(node);
  const Tensor& x = input(node, inputs, 0);
  if (x.rank() < 3 || x.rank() > 5) {
    throw failure(node, fmt::format("its input is {}; a batch of channels is needed", describe(x)));
  }
  return x;
}

/// The positions that a window takes along up to three axes; missing axes have one of one.
std::array<std::vector<Dims>, 3> window_taps(const SpatialWindow& window, const Dims& dims) {
  std::array<std::vector<Dims>, 3> taps{{{{0}}, {{0}}, {{0}}}};
  const std::size_t axes = window.kernel.size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::vector<Dims>& along = taps[3 - axes + axis];
    along.clear();
    for (std::int64_t at = 0; at < window.output[axis]; ++at) {
      along.push_back(window.taps(axis, at, dims[axis + 2]));
    }
  }
  return taps;
}

template <class T>
Tensor global_average_of(const Tensor& x, const Quantization& from, const Quantization& to) {
  Dims dims = x.dims();
  std::fill(dims.begin() + 2, dims.end(), 1);
  Tensor result(x.type(), dims);
  const std::int64_t plane = result.elements() == 0 ? 0 : x.elements() / result.elements();
  const float scale = whole_map_scale(from, to, plane);
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    const T* begin = x.values<T>() + i * plane;
    std::int64_t sum = 0;
    for (std::int64_t at = 0; at < plane; ++at) sum += begin[at] - from.zero;
    result.mutable_values<T>()[i] = to_quantized<T>(static_cast<float>(sum) * scale, to.zero);
  }
  return result;
}

/// Dequantized values are added in the window's order, divided by their number and quantized. A
/// window that is the map has the global operator's arithmetic.
template <class T>
Tensor average_of(const NodeContext& node, const Tensor& x, const Quantization& from,
                  const Quantization& to) {
  const SpatialWindow window = make_window(node, x.dims(), kernel_shape(node, x.rank() - 2));
  if (window.is_whole_map(x.dims())) return global_average_of<T>(x, from, to);
  const bool with_padding = attribute(*node.node, "count_include_pad", std::int64_t{0}) != 0;
  const std::int64_t kernel = std::accumulate(window.kernel.begin(), window.kernel.end(),
                                              std::int64_t{1}, std::multiplies<>());
  const std::int64_t height = x.rank() > 3 ? x.dim(x.rank() - 2) : 1;
  const std::int64_t width = x.dims().back();
  const std::int64_t plane = (x.rank() > 4 ? x.dim(2) : 1) * height * width;
  std::array<float, 256> values;
  for (int i = 0; i < 256; ++i) {
    values[static_cast<std::size_t>(i)] = dequantized(static_cast<T>(i), from);
  }
  Dims dims{x.dim(0), x.dim(1)};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  Tensor result(x.type(), dims);  // refuses what is too large before its windows are listed
  const auto taps = window_taps(window, x.dims());
  T* output = result.mutable_values<T>();
  for (std::int64_t channel = 0; channel < x.dim(0) * x.dim(1); ++channel) {
    const T* input_plane = x.values<T>() + channel * plane;
    for (const Dims& depths : taps[0]) {
      for (const Dims& rows : taps[1]) {
        for (const Dims& columns : taps[2]) {
          float sum = 0;
          for (const std::int64_t z : depths) {
            for (const std::int64_t y : rows) {
              for (const std::int64_t at : columns) {
                sum +=
                    values[static_cast<std::uint8_t>(input_plane[(z * height + y) * width + at])];
              }
            }
          }
          const auto count =
              with_padding
                  ? kernel
                  : static_cast<std::int64_t>(depths.size() * rows.size() * columns.size());
          *output++ = quantized_mean<T>(sum, count, to);
        }
      }
    }
  }
  return result;
}

}  // namespace

Tensors qlinear_average_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = checked_planes(node, inputs);
  const Quantization from = quantization_of(node, inputs, 1, x.type());
  const Quantization to = quantization_of(node, inputs, 3, x.type());
  return {visit_bytes(node, x.type(),
                      [&](auto kind) { return average_of<decltype(kind)>(node, x, from, to); })};
}

Tensors qlinear_global_average_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = checked_planes(node, inputs);
  const Quantization from = quantization_of(node, inputs, 1, x.type());
  const Quantization to = quantization_of(node, inputs, 3, x.type());
  return {visit_bytes(node, x.type(),
                      [&](auto kind) { return global_average_of<decltype(kind)>(x, from, to); })};
}

namespace {

/// exp of each value's distance below the largest of 255, in float32, moved so that a sum of
/// `length` of them stays finite.
std::array<float, 256> exponentials(float scale, std::int64_t length) {
  constexpr double kReserve = 5;
  const double room =
      std::log(std::numeric_limits<float>::max() / static_cast<float>(length));  // in float32
  const double shift = std::max(0.0, room - kReserve) / static_cast<double>(scale);
  std::array<float, 256> table;
  for (int i = 0; i < 256; ++i) {
    table[static_cast<std::size_t>(i)] =
        static_cast<float>(std::exp((i - 255 + shift) * static_cast<double>(scale)));
  }
  return table;
}

/// Exponentials of a short row overflow where they are multiplied by the number of steps; what ONNX
/// Runtime then gives on x86-64 is a conversion's overflow, and no share at all.
template <class T>
T quantized_share(float share, std::int32_t zero) {
  constexpr float kOverflow = 2147483648.0F;
  if (share < kOverflow) return to_quantized<T>(share, zero);
  return static_cast<T>(zero < 0 ? std::numeric_limits<T>::max() : zero);
}

template <class T>
Tensor softmax_of(const Tensor& x, std::int64_t outer, std::int64_t length, std::int64_t inner,
                  float scale, const Quantization& to) {
  Tensor result(x.type(), x.dims());
  const std::array<float, 256> table = exponentials(scale, length);
  const float steps = std::floor(1.0F / to.scale);
  for (std::int64_t row = 0; row < outer * inner; ++row) {
    const std::int64_t first = row / inner * length * inner + row % inner;
    const T* from = x.values<T>() + first;
    T* target = result.mutable_values<T>() + first;
    std::int32_t largest = from[0];
    for (std::int64_t i = 1; i < length; ++i)
      largest = std::max<std::int32_t>(largest, from[i * inner]);
    const auto exponential = [&](std::int64_t i) {
      return table[static_cast<std::size_t>(255 + from[i * inner] - largest)];
    };
    float sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum += exponential(i);
    for (std::int64_t i = 0; i < length; ++i) {
      target[i * inner] = quantized_share<T>(exponential(i) * steps / sum, to.zero);
    }
  }
  return result;
}

}  // namespace

Tensors qlinear_softmax(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Quantization from = quantization_of(node, inputs, 1, x.type());
  const Quantization to = quantization_of(node, inputs, 3, x.type());
  const std::int64_t opset = attribute(*node.node, "opset", std::int64_t{13});
  const std::int64_t otherwise = opset < 13 ? 1 : -1;
  const std::size_t axis = checked_axis(node, attribute(*node.node, "axis", otherwise), x.rank());
  const auto product = [&x](std::size_t begin, std::size_t end) {
    return std::accumulate(x.dims().begin() + static_cast<std::ptrdiff_t>(begin),
                           x.dims().begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{1},
                           std::multiplies<>());
  };
  // Up to opset 12 the input is folded into a matrix at the axis.
  const std::size_t end = opset < 13 ? x.rank() : axis + 1;
  return {visit_bytes(node, x.type(), [&](auto kind) {
    return softmax_of<decltype(kind)>(x, product(0, axis), product(axis, end),
                                      product(end, x.rank()), from.scale, to);
  })};
}

}  // namespace host
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and their global forms, one axis after the other: the largest of a window is
// the largest of its rows' largest, and so are sums.
#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "host/kernels/host_threads.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"
#include "host/kernels/window.hpp"

namespace gemm64 {
namespace host {
namespace {

/// `values` seen along one axis: [outer][length][inner].
struct Along {
  std::int64_t outer, length, inner;
};

Along along(const Dims& dims, std::size_t axis) {
  const auto middle = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  return {product(dims.begin(), middle), *middle, product(middle + 1, dims.end())};
}

/// For each window along one spatial axis, the positions that it takes.
std::vector<Dims> taps_along(const SpatialWindow& window, std::size_t axis, std::int64_t input) {
  std::vector<Dims> taps;
  for (std::int64_t at = 0; at < window.output[axis]; ++at) {
    taps.push_back(window.taps(axis, at, input));
  }
  return taps;
}

/// Calls combine(to, from, count) for each window and each position in it, with `count` values side
/// by side; `to` and `from` are offsets.
template <class Combine>
void pool_along(const Along& in, const std::vector<Dims>& taps, Combine combine) {
  const auto windows = static_cast<std::int64_t>(taps.size());
  on_host_threads(
      in.outer, in.outer * in.length * in.inner, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t outer = begin; outer < end; ++outer) {
          for (std::int64_t at = 0; at < windows; ++at) {
            for (const std::int64_t tap : taps[static_cast<std::size_t>(at)]) {
              combine((outer * windows + at) * in.inner, (outer * in.length + tap) * in.inner);
            }
          }
        }
      });
}

Dims pooled_dims(Dims dims, std::size_t axis, std::int64_t windows) {
  dims[axis] = windows;
  return dims;
}

SpatialWindow checked_window(const NodeContext& node, const Tensor& x) {
  if (x.rank() < 3) {
    throw failure(node, fmt::format("its input is {}; a batch of channels is needed", describe(x)));
  }
  return make_window(node, x.dims(), kernel_shape(node, x.rank() - 2));
}

template <class T>
T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

/// Where each value stands within its channel, by the layout that storage_order asks for: 0 row by
/// row, 1 with the first axis fastest. Channels follow each other.
Tensor positions(const Dims& dims, bool first_axis_fastest) {
  Tensor result(onnx::TensorProto::INT64, dims);
  const Along plane = along(dims, 1);
  Dims spatial(dims.begin() + 2, dims.end());
  Dims steps = row_major_strides(spatial);
  if (first_axis_fastest) {
    std::int64_t step = 1;
    for (std::size_t axis = 0; axis < spatial.size(); ++axis) {
      steps[axis] = step;
      step *= spatial[axis];
    }
  }
  const Dims plain = row_major_strides(spatial);
  auto* to = result.mutable_values<std::int64_t>();
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    const std::int64_t channel = i / plane.inner;
    std::int64_t rest = i % plane.inner;
    to[i] = channel * plane.inner;
    for (std::size_t axis = 0; axis < spatial.size(); ++axis) {
      to[i] += rest / plain[axis] * steps[axis];
      rest %= plain[axis];
    }
  }
  return result;
}

/// The last axis first: among equals the first in row-major order wins.
template <class T>
Tensors max_pool_of(const NodeContext& node, const Tensor& x, bool with_positions) {
  const SpatialWindow window = checked_window(node, x);
  Tensor values = x;
  Tensor places;
  if (with_positions) {
    places = positions(x.dims(), attribute(*node.node, "storage_order", std::int64_t{0}) != 0);
  }
  for (std::size_t axis = window.kernel.size(); axis-- > 0;) {
    const Along in = along(values.dims(), axis + 2);
    const Dims dims = pooled_dims(values.dims(), axis + 2, window.output[axis]);
    Tensor largest(values.type(), dims);
    const std::vector<Dims> taps = taps_along(window, axis, in.length);
    const T* from = values.values<T>();
    T* to = largest.mutable_values<T>();
    std::fill_n(to, largest.elements(), lowest<T>());
    if (!with_positions) {
      pool_along(in, taps, [&](std::int64_t target, std::int64_t source) {
        for (std::int64_t i = 0; i < in.inner; ++i) {
          to[target + i] = std::max(to[target + i], from[source + i]);
        }
      });
    } else {
      Tensor chosen(onnx::TensorProto::INT64, dims);
      const std::int64_t* from_place = places.values<std::int64_t>();
      std::int64_t* to_place = chosen.mutable_values<std::int64_t>();
      std::fill_n(to_place, chosen.elements(), std::int64_t{-1});
      pool_along(in, taps, [&](std::int64_t target, std::int64_t source) {
        for (std::int64_t i = 0; i < in.inner; ++i) {
          if (to_place[target + i] != -1 && !(from[source + i] > to[target + i])) continue;
          to[target + i] = from[source + i];
          to_place[target + i] = from_place[source + i];
        }
      });
      places = chosen;
    }
    values = largest;
  }
  if (with_positions) return {values, places};
  return {values};
}

}  // namespace

Tensors max_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const bool with_positions = node.node->output_size() > 1 && !node.node->output(1).empty();
  return visit_types<float, double, std::int8_t, std::uint8_t>(node, x.type(), [&](auto zero) {
    return max_pool_of<decltype(zero)>(node, x, with_positions);
  });
}

namespace {

template <class T>
Tensor average_pool_of(const NodeContext& node, const Tensor& x) {
  const SpatialWindow window = checked_window(node, x);
  const bool with_padding = attribute(*node.node, "count_include_pad", std::int64_t{0}) != 0;
  Tensor values = x;
  for (std::size_t axis = window.kernel.size(); axis-- > 0;) {
    const Along in = along(values.dims(), axis + 2);
    Tensor means(values.type(), pooled_dims(values.dims(), axis + 2, window.output[axis]));
    const std::vector<Dims> taps = taps_along(window, axis, in.length);
    const T* from = values.values<T>();
    T* to = means.mutable_values<T>();
    std::fill_n(to, means.elements(), T{0});
    pool_along(in, taps, [&](std::int64_t target, std::int64_t source) {
      for (std::int64_t i = 0; i < in.inner; ++i) to[target + i] += from[source + i];
    });
    // A window's count is the product of its counts by axis.
    for (std::int64_t row = 0; in.inner > 0 && row < means.elements() / in.inner; ++row) {
      const std::int64_t at = row % window.output[axis];
      const std::int64_t count =
          with_padding ? window.padded_taps(axis, at, in.length)
                       : static_cast<std::int64_t>(taps[static_cast<std::size_t>(at)].size());
      for (std::int64_t i = 0; i < in.inner; ++i) to[row * in.inner + i] /= static_cast<T>(count);
    }
    values = means;
  }
  return values;
}

}  // namespace

Tensors average_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_floats(node, x.type(),
                       [&](auto zero) { return average_pool_of<decltype(zero)>(node, x); })};
}

namespace {

const Tensor& checked_planes(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (x.rank() < 3) {
    throw failure(node, fmt::format("its input is {}; a batch of channels is needed", describe(x)));
  }
  return x;
}

/// function(begin, end) of each channel's values.
template <class T, class Function>
Tensor by_plane(const Tensor& x, Function function) {
  Dims dims = x.dims();
  std::fill(dims.begin() + 2, dims.end(), 1);
  Tensor result(x.type(), dims);
  const std::int64_t channels = result.elements();
  const std::int64_t plane = channels == 0 ? 0 : x.elements() / channels;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const T* from = x.values<T>() + channel * plane;
    result.mutable_values<T>()[channel] = function(from, from + plane);
  }
  return result;
}

template <class T>
Tensor global_average_of(const Tensor& x) {
  return by_plane<T>(x, [](const T* begin, const T* end) {
    return static_cast<T>(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  });
}

template <class T>
Tensor global_max_of(const Tensor& x) {
  return by_plane<T>(x, [](const T* begin, const T* end) {
    return std::accumulate(begin, end, lowest<T>(), [](T a, T b) { return std::max(a, b); });
  });
}

}  // namespace

Tensors global_average_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = checked_planes(node, inputs);
  return {visit_floats(node, x.type(),
                       [&](auto zero) { return global_average_of<decltype(zero)>(x); })};
}

Tensors global_max_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = checked_planes(node, inputs);
  return {visit_types<float, double, std::int8_t, std::uint8_t>(
      node, x.type(), [&](auto zero) { return global_max_of<decltype(zero)>(x); })};
}

}  // namespace host

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Operators along one axis whose results depend on order: TopK, CumSum, CumProd, Hardmax, Trilu,
// ReverseSequence, and EyeLike.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// A tensor as [outer][size][inner], the axis in the middle.
struct AroundAxis {
  std::int64_t outer = 1, size = 1, inner = 1;

  AroundAxis(const Dims& dims, std::size_t axis) : size(dims[axis]) {
    for (std::size_t a = 0; a < axis; ++a) outer *= dims[a];
    for (std::size_t a = axis + 1; a < dims.size(); ++a) inner *= dims[a];
  }
  /// The place of element `i` along the axis in line `line` of outer * inner.
  std::int64_t at(std::int64_t line, std::int64_t i) const {
    return (line / inner * size + i) * inner + line % inner;
  }
  std::int64_t lines() const { return outer * inner; }
};

/// Is a before b? NaN is the largest; of equals the first comes first.
template <class T>
bool is_larger(T a, T b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
  return a > b;
}

}  // namespace

Tensors top_k(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{-1}), x.rank());
  const Dims asked = node.opset < 10 ? Dims{attribute(*node.node, "k", std::int64_t{-1})}
                                     : integers(node, input(node, inputs, 1));
  if (asked.size() != 1 || asked[0] < 0 || asked[0] > x.dim(axis)) {
    throw failure(node,
                  fmt::format("k is {} for axis {} of {}", dims_text(asked), axis, describe(x)));
  }
  const bool largest = attribute(*node.node, "largest", std::int64_t{1}) != 0;
  Dims dims = x.dims();
  dims[axis] = asked[0];
  const AroundAxis from(x.dims(), axis), to(dims, axis);
  Tensor values(x.type(), dims), indices(onnx::TensorProto::INT64, dims);
  visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    const T* const given = x.values<T>();
    std::vector<std::int64_t> order(static_cast<std::size_t>(from.size));
    for (std::int64_t line = 0; line < from.lines(); ++line) {
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const T left = given[from.at(line, a)], right = given[from.at(line, b)];
        return largest ? is_larger(left, right) : is_larger(right, left);
      });
      for (std::int64_t i = 0; i < to.size; ++i) {
        const std::int64_t index = order[static_cast<std::size_t>(i)];
        values.mutable_values<T>()[to.at(line, i)] = given[from.at(line, index)];
        indices.mutable_values<std::int64_t>()[to.at(line, i)] = index;
      }
    }
    return true;
  });
  return {values, indices};
}

namespace {

/// Each value joined with all before it along the axis; `first` is what nothing joins to.
template <class Join>
Tensors cumulated(const NodeContext& node, const Tensors& inputs, int first, Join join) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& given = input(node, inputs, 1);
  const Dims axes = integers(node, given.reshaped({given.elements()}));
  if (axes.size() != 1) throw failure(node, fmt::format("{} axes", axes.size()));
  const AroundAxis around(x.dims(), checked_axis(node, axes[0], x.rank()));
  const bool reverse = attribute(*node.node, "reverse", std::int64_t{0}) != 0;
  const bool exclusive = attribute(*node.node, "exclusive", std::int64_t{0}) != 0;
  return {visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result(x.type(), x.dims());
    for (std::int64_t line = 0; line < around.lines(); ++line) {
      T sum = static_cast<T>(first);
      for (std::int64_t i = 0; i < around.size; ++i) {
        const std::int64_t at = around.at(line, reverse ? around.size - 1 - i : i);
        const T next = static_cast<T>(join(sum, x.values<T>()[at]));
        result.mutable_values<T>()[at] = exclusive ? sum : next;
        sum = next;
      }
    }
    return result;
  })};
}

}  // namespace

Tensors cum_sum(const NodeContext& node, const Tensors& inputs) {
  return cumulated(node, inputs, 0, [](auto a, auto b) { return a + b; });
}

Tensors cum_prod(const NodeContext& node, const Tensors& inputs) {
  return cumulated(node, inputs, 1, [](auto a, auto b) { return a * b; });
}

Tensors hardmax(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  // Before opset 13 all axes from `axis` on are one.
  const bool one_axis = node.opset >= 13;
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{one_axis ? -1 : 1}), x.rank());
  AroundAxis around(x.dims(), axis);
  if (!one_axis) {
    around.size *= around.inner;
    around.inner = 1;
  }
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result(x.type(), x.dims());
    std::fill_n(result.mutable_values<T>(), result.elements(), T{0});
    for (std::int64_t line = 0; around.size > 0 && line < around.lines(); ++line) {
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < around.size; ++i) {
        if (x.values<T>()[around.at(line, i)] > x.values<T>()[around.at(line, best)]) best = i;
      }
      result.mutable_values<T>()[around.at(line, best)] = T{1};
    }
    return result;
  })};
}

Tensors trilu(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (x.rank() < 2) throw failure(node, fmt::format("{} is no matrix", describe(x)));
  const Tensor& given = optional_input(inputs, 1);
  const Dims diagonal =
      given.present() ? integers(node, given.reshaped({given.elements()})) : Dims{0};
  if (diagonal.size() != 1) throw failure(node, fmt::format("{} diagonals", diagonal.size()));
  const bool upper = attribute(*node.node, "upper", std::int64_t{1}) != 0;
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  const std::int64_t k = std::clamp(diagonal[0], -rows - columns, rows + columns);
  Tensor result(x.type(), x.dims());
  if (x.bytes() > 0) std::memcpy(result.mutable_raw(), x.raw(), x.bytes());
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t row = i / columns % rows, column = i % columns;
    if (upper ? column - row >= k : column - row <= k) continue;
    std::memset(result.mutable_raw() + static_cast<std::size_t>(i) * x.element_size(), 0,
                x.element_size());
  }
  return {result};
}

Tensors eye_like(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (x.rank() != 2) throw failure(node, fmt::format("{} is no matrix", describe(x)));
  const auto type =
      static_cast<DataType>(attribute(*node.node, "dtype", static_cast<std::int64_t>(x.type())));
  const std::int64_t k = attribute(*node.node, "k", std::int64_t{0});
  return {visit_types<float, double, Eigen::half, Eigen::bfloat16, bool, std::int8_t, std::uint8_t,
                      std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                      std::uint64_t>(node, type, [&](auto zero) {
    using T = decltype(zero);
    Tensor result(type, x.dims());
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      const bool on = i % x.dim(1) - i / x.dim(1) == k;
      result.mutable_values<T>()[i] = on ? static_cast<T>(1) : T{};
    }
    return result;
  })};
}

Tensors reverse_sequence(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims lengths = integers(node, input(node, inputs, 1));
  const std::int64_t batch_axis = attribute(*node.node, "batch_axis", std::int64_t{1});
  const std::int64_t time_axis = attribute(*node.node, "time_axis", std::int64_t{0});
  if (x.rank() < 2 || batch_axis + time_axis != 1 || batch_axis * time_axis != 0) {
    throw failure(node, fmt::format("batch axis {} and time axis {} of {}; they must be 0 and 1",
                                    batch_axis, time_axis, describe(x)));
  }
  const std::int64_t batches = x.dim(static_cast<std::size_t>(batch_axis));
  const std::int64_t steps = x.dim(static_cast<std::size_t>(time_axis));
  const bool fits = static_cast<std::int64_t>(lengths.size()) == batches &&
                    std::all_of(lengths.begin(), lengths.end(), [steps](std::int64_t length) {
                      return length >= 0 && length <= steps;
                    });
  if (!fits) {
    throw failure(
        node, fmt::format("lengths {} for {} sequences of {}", dims_text(lengths), batches, steps));
  }
  Tensor result(x.type(), x.dims());
  if (x.bytes() == 0) return {result};
  const std::size_t row = x.bytes() / static_cast<std::size_t>(batches * steps);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const std::int64_t length = lengths[static_cast<std::size_t>(batch)];
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t from = step < length ? length - 1 - step : step;
      const auto place = [&](std::int64_t at) {
        return static_cast<std::size_t>(time_axis == 0 ? at * batches + batch : batch * steps + at);
      };
      std::memcpy(result.mutable_raw() + place(step) * row, x.raw() + place(from) * row, row);
    }
  }
  return {result};
}

}  // namespace host
}  // namespace gemm64

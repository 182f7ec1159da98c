// SPDX-License-Identifier: Apache-2.0
// Reductions along axes: sums, products, means, norms, extremes, and where extremes are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/kernels/float_product.hpp"
#include "host/kernels/float_rows.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// Which axes are reduced, and the sizes without them: as 1, and as the node shows them.
struct Reduction {
  Dims kept, visible;
  std::vector<bool> reduced;  // by axis
  bool none = false;          // nothing is reduced, and the node is the identity
};

/// `moved`: the opset since which the axes are an input.
Reduction reduction(const NodeContext& node, const Tensors& inputs, const Tensor& x,
                    std::int64_t moved) {
  const Dims axes = axes_of(node, inputs, moved);
  Reduction result;
  const bool all = attribute(*node.node, "noop_with_empty_axes", std::int64_t{0}) == 0;
  result.none = axes.empty() && !all;
  std::vector<bool>& reduced = result.reduced;
  reduced.assign(x.rank(), axes.empty() && all);
  for (const std::int64_t axis : axes) reduced[checked_axis(node, axis, x.rank())] = true;
  const bool keep = attribute(*node.node, "keepdims", std::int64_t{1}) != 0;
  result.kept = x.dims();
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (reduced[axis]) result.kept[axis] = 1;
    if (keep || !reduced[axis]) result.visible.push_back(result.kept[axis]);
  }
  return result;
}

/// Sums of integers are kept in 64 bits and wrap, those of floats in double.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

/// finish(accumulated) for each element of the result, where join(accumulator, value) takes in each
/// value and `first` is the accumulator of none.
template <class T, class Join, class Finish>
Tensor reduced_of(const Tensor& x, const Reduction& reduction, Accumulator<T> first, Join join,
                  Finish finish) {
  Tensor result(x.type(), reduction.kept);
  std::vector<Accumulator<T>> sums(static_cast<std::size_t>(result.elements()), first);
  const T* from = x.values<T>();
  for_each_row(
      Walk<2>{x.dims(), {row_major_strides(x.dims()), broadcast_strides(reduction.kept, x.dims())}},
      [&](const auto& offsets, std::int64_t length, const auto& steps) {
        for (std::int64_t i = 0; i < length; ++i) {
          auto& sum = sums[static_cast<std::size_t>(offsets[1] + i * steps[1])];
          sum = join(sum, static_cast<Accumulator<T>>(from[offsets[0] + i * steps[0]]));
        }
      });
  std::transform(sums.begin(), sums.end(), result.mutable_values<T>(),
                 [&](Accumulator<T> sum) { return static_cast<T>(finish(sum)); });
  return result.reshaped(reduction.visible);
}

constexpr std::int64_t kAxesMoved = 18;

/// By kind of operator: join and finish get an accumulator, `first` its type's zero.
template <class First, class Join, class Finish>
Tensors reduce(const NodeContext& node, const Tensors& inputs, First first, Join join,
               Finish finish, std::int64_t moved = kAxesMoved) {
  const Tensor& x = input(node, inputs, 0);
  const Reduction how = reduction(node, inputs, x, moved);
  return {visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return reduced_of<T>(x, how, first(T{}), join, finish);
  })};
}

constexpr auto kZero = [](auto zero) { return Accumulator<decltype(zero)>{0}; };
constexpr auto kSame = [](auto sum) { return sum; };
constexpr auto kAdd = [](auto sum, auto value) {
  if constexpr (std::is_floating_point_v<decltype(sum)>) {
    return sum + value;
  } else {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                     static_cast<std::uint64_t>(value));
  }
};
constexpr auto kMultiply = [](auto product, auto value) {
  if constexpr (std::is_floating_point_v<decltype(product)>) {
    return product * value;
  } else {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(product) *
                                     static_cast<std::uint64_t>(value));
  }
};
constexpr auto kAddSquare = [](auto sum, auto value) { return kAdd(sum, kMultiply(value, value)); };
constexpr auto kAddMagnitude = [](auto sum, auto value) {
  return kAdd(sum, value < 0 ? -value : value);
};

template <class T>
Accumulator<T> lowest() {
  return std::numeric_limits<T>::has_infinity
             ? static_cast<Accumulator<T>>(-std::numeric_limits<T>::infinity())
             : static_cast<Accumulator<T>>(std::numeric_limits<T>::lowest());
}

template <class T>
Accumulator<T> highest() {
  return std::numeric_limits<T>::has_infinity
             ? static_cast<Accumulator<T>>(std::numeric_limits<T>::infinity())
             : static_cast<Accumulator<T>>(std::numeric_limits<T>::max());
}

/// Of bools the largest is whether any is true.
Tensors extreme(const NodeContext& node, const Tensors& inputs, bool largest) {
  const Tensor& x = input(node, inputs, 0);
  const auto first = [largest](auto zero) {
    return largest ? lowest<decltype(zero)>() : highest<decltype(zero)>();
  };
  const auto join = [largest](auto best, auto value) {
    const bool better = largest ? value > best : value < best;
    return better || is_nan(value) ? value : best;
  };
  if (x.type() != onnx::TensorProto::BOOL) {
    return reduce(node, inputs, first, join, kSame);
  }
  const Reduction how = reduction(node, inputs, x, kAxesMoved);
  return {reduced_of<bool>(x, how, largest ? 0 : 1, join, kSame)};
}

/// Of float32, kept in float32: join(sum, value) from 0 on, in order.
template <class Join>
Tensor in_order(const Tensor& x, const Reduction& how, Join join) {
  Tensor result(x.type(), how.kept);
  float* const to = result.mutable_values<float>();
  std::fill_n(to, result.elements(), 0.0F);
  for_each_row(
      Walk<2>{x.dims(), {row_major_strides(x.dims()), broadcast_strides(how.kept, x.dims())}},
      [&](const auto& offsets, std::int64_t length, const auto& steps) {
        for (std::int64_t i = 0; i < length; ++i) {
          float& sum = to[offsets[1] + i * steps[1]];
          sum = join(sum, x.values<float>()[offsets[0] + i * steps[0]]);
        }
      });
  return result;
}

/// Neighbouring axes that are all reduced, or all kept, as one.
struct Run {
  bool reduced;
  std::int64_t size;
};

std::vector<Run> runs_of(const Dims& dims, const std::vector<bool>& reduced) {
  std::vector<Run> runs;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (runs.empty() || runs.back().reduced != reduced[axis]) runs.push_back({reduced[axis], 1});
    runs.back().size *= dims[axis];
  }
  return runs;
}

/// Sums of float32, to the bit as ONNX Runtime (reduction_ops.cc): how depends on the pattern
/// of reduced and kept axes.
Tensor sums_of_floats(const Tensor& x, const Reduction& how) {
  std::vector<Run> runs = runs_of(x.dims(), how.reduced);
  if (runs.size() == 3 && !runs[0].reduced && runs[0].size == 1) runs.erase(runs.begin());
  Tensor result(x.type(), how.kept);
  const float* const from = x.values<float>();
  float* const to = result.mutable_values<float>();
  if (x.elements() > 0 && !runs.empty() && runs.back().reduced && runs.size() <= 3) {
    // All; each row; or each row again and again.
    const std::int64_t length = runs.back().size;
    const std::int64_t times = runs.size() == 3 ? runs[0].size : 1;
    const std::int64_t rows = result.elements();
    for (std::int64_t row = 0; row < rows; ++row) {
      to[row] = 0;
      for (std::int64_t i = 0; i < times; ++i) {
        const std::int64_t place = (i * rows + row) * length;
        const float found = sum(from + place, length, place);
        to[row] = times == 1 ? found : to[row] + found;
      }
    }
    return result;
  }
  if (x.elements() > 0 && runs.size() == 3) {
    // Each matrix, times a row of ones.
    const std::int64_t length = runs[1].size, columns = runs[2].size;
    const std::vector<float> ones(static_cast<std::size_t>(length), 1.0F);
    for (std::int64_t i = 0; i < runs[0].size; ++i) {
      multiply({1, columns, length, {ones.data(), length}, {from + i * length * columns, columns}},
               to + i * columns);
    }
    return result;
  }
  return in_order(x, how, [](float sum, float value) { return sum + value; });
}

/// Squares, each rounded, summed in order; those of a whole tensor as its values are.
Tensor squares_of_floats(const Tensor& x, const Reduction& how) {
  if (std::find(how.reduced.begin(), how.reduced.end(), false) == how.reduced.end()) {
    Tensor squares(x.type(), x.dims());
    std::transform(x.values<float>(), x.values<float>() + x.elements(),
                   squares.mutable_values<float>(), [](float value) { return value * value; });
    return sums_of_floats(squares, how);
  }
  return in_order(x, how, [](float sum, float value) { return sum + value * value; });
}

}  // namespace

Tensors reduce_sum(const NodeContext& node, const Tensors& inputs) {
  constexpr std::int64_t kSumsAxesMoved = 13;
  const Tensor& x = input(node, inputs, 0);
  if (x.type() == onnx::TensorProto::FLOAT) {
    const Reduction how = reduction(node, inputs, x, kSumsAxesMoved);
    return {sums_of_floats(x, how).reshaped(how.visible)};
  }
  return reduce(node, inputs, kZero, kAdd, kSame, kSumsAxesMoved);
}

Tensors reduce_mean(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Reduction how = reduction(node, inputs, x, kAxesMoved);
  std::int64_t results = 1;
  for (const std::int64_t dim : how.kept) results *= dim;
  const std::int64_t count = x.elements() / std::max<std::int64_t>(results, 1);
  if (x.type() == onnx::TensorProto::FLOAT) {
    Tensor result = sums_of_floats(x, how);
    float* const values = result.mutable_values<float>();
    std::for_each(values, values + result.elements(),
                  [&](float& value) { value /= static_cast<float>(count); });
    return {result.reshaped(how.visible)};
  }
  return reduce(node, inputs, kZero, kAdd, [count](auto sum) {
    using Sum = decltype(sum);
    if constexpr (!std::is_floating_point_v<Sum>) {
      if (count == 0) return Sum{0};
    }
    return sum / static_cast<Sum>(count);
  });
}

Tensors reduce_prod(const NodeContext& node, const Tensors& inputs) {
  return reduce(
      node, inputs, [](auto zero) { return Accumulator<decltype(zero)>{1}; }, kMultiply, kSame);
}

Tensors reduce_l1(const NodeContext& node, const Tensors& inputs) {
  return reduce(node, inputs, kZero, kAddMagnitude, kSame);
}

Tensors reduce_l2(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (x.type() == onnx::TensorProto::FLOAT) {
    const Reduction how = reduction(node, inputs, x, kAxesMoved);
    Tensor result = squares_of_floats(x, how);
    float* const values = result.mutable_values<float>();
    std::transform(values, values + result.elements(), values,
                   [](float value) { return std::sqrt(value); });
    return {result.reshaped(how.visible)};
  }
  return reduce(node, inputs, kZero, kAddSquare,
                [](auto sum) { return std::sqrt(static_cast<double>(sum)); });
}

Tensors reduce_sum_square(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (x.type() == onnx::TensorProto::FLOAT) {
    const Reduction how = reduction(node, inputs, x, kAxesMoved);
    return {squares_of_floats(x, how).reshaped(how.visible)};
  }
  return reduce(node, inputs, kZero, kAddSquare, kSame);
}

Tensors reduce_log_sum(const NodeContext& node, const Tensors& inputs) {
  return reduce(node, inputs, kZero, kAdd,
                [](auto sum) { return std::log(static_cast<double>(sum)); });
}

/// The running logarithm: no exponential is taken of anything above 0.
Tensors reduce_log_sum_exp(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Reduction how = reduction(node, inputs, x, kAxesMoved);
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return reduced_of<T>(
        x, how, lowest<T>(),
        [](double sum, double value) {
          const double larger = std::max(sum, value);
          if (std::isinf(larger)) return larger;
          return larger + std::log1p(std::exp(std::min(sum, value) - larger));
        },
        kSame);
  })};
}

Tensors reduce_max(const NodeContext& node, const Tensors& inputs) {
  return extreme(node, inputs, true);
}

Tensors reduce_min(const NodeContext& node, const Tensors& inputs) {
  return extreme(node, inputs, false);
}

namespace {

Tensors position_of_extreme(const NodeContext& node, const Tensors& inputs, bool largest) {
  const Tensor& x = input(node, inputs, 0);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{0}), x.rank());
  const bool last = attribute(*node.node, "select_last_index", std::int64_t{0}) != 0;
  Dims dims = x.dims();
  const std::int64_t length = dims[axis];
  if (length == 0) throw failure(node, fmt::format("axis {} of {} is empty", axis, describe(x)));
  dims[axis] = 1;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
  Tensor result(onnx::TensorProto::INT64, dims);
  visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      const T* from = x.values<T>() + i / inner * length * inner + i % inner;
      std::int64_t best = 0;
      for (std::int64_t at = 1; at < length; ++at) {
        const T value = from[at * inner];
        const T found = from[best * inner];
        const bool better = largest ? value > found : value < found;
        if (better || (last && value == found)) best = at;
      }
      result.mutable_values<std::int64_t>()[i] = best;
    }
    return 0;
  });
  if (attribute(*node.node, "keepdims", std::int64_t{1}) == 0) {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return {result.reshaped(dims)};
}

}  // namespace

Tensors arg_max(const NodeContext& node, const Tensors& inputs) {
  return position_of_extreme(node, inputs, true);
}

Tensors arg_min(const NodeContext& node, const Tensors& inputs) {
  return position_of_extreme(node, inputs, false);
}

}  // namespace host
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Operators on each element by itself: Add, Mul, Sum, Relu, Sigmoid, Tanh, Clip, Cast.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "host/execute/operators.hpp"
#include "host/execute/strided.hpp"
#include "host/execute/visit.hpp"

namespace gemm64 {
namespace {

template <class T, class Function>
Tensor binary_of(const Tensor& a, const Tensor& b, const Dims& dims, Function function) {
  Tensor result(a.type(), dims);
  const T* left = a.values<T>();
  const T* right = b.values<T>();
  T* to = result.mutable_values<T>();
  for_each_row(Walk<3>{dims,
                       {row_major_strides(dims), broadcast_strides(a.dims(), dims),
                        broadcast_strides(b.dims(), dims)}},
               [&](const auto& offsets, std::int64_t length, const auto& steps) {
                 T* target = to + offsets[0];
                 const T* x = left + offsets[1];
                 const T* y = right + offsets[2];
                 if (steps[1] == 1 && steps[2] == 1) {
                   for (std::int64_t i = 0; i < length; ++i) target[i] = function(x[i], y[i]);
                   return;
                 }
                 for (std::int64_t i = 0; i < length; ++i) {
                   target[i] = function(x[i * steps[1]], y[i * steps[2]]);
                 }
               });
  return result;
}

template <class Function>
Tensor binary(const NodeContext& node, const Tensor& a, const Tensor& b, Function function) {
  require_same_type(node, a, b);
  Dims dims;
  if (!broadcast_dims(a.dims(), b.dims(), dims)) {
    throw failure(node, fmt::format("its inputs, {} and {}, do not stretch to one another",
                                    describe(a), describe(b)));
  }
  return visit_numbers(node, a.type(),
                       [&](auto zero) { return binary_of<decltype(zero)>(a, b, dims, function); });
}

/// Integers wrap, as unsigned arithmetic does without being undefined.
template <class T, class Function>
T wrapping(T a, T b, Function function) {
  if constexpr (std::is_floating_point_v<T>) {
    return function(a, b);
  } else {
    return static_cast<T>(function(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  }
}

constexpr auto kAdd = [](auto a, auto b) { return wrapping(a, b, std::plus<>()); };
constexpr auto kMultiply = [](auto a, auto b) { return wrapping(a, b, std::multiplies<>()); };

Tensors add(const NodeContext& node, const Tensors& inputs) {
  return {binary(node, input(node, inputs, 0), input(node, inputs, 1), kAdd)};
}

Tensors mul(const NodeContext& node, const Tensors& inputs) {
  return {binary(node, input(node, inputs, 0), input(node, inputs, 1), kMultiply)};
}

Tensors sum(const NodeContext& node, const Tensors& inputs) {
  Tensor total = input(node, inputs, 0);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    total = binary(node, total, input(node, inputs, i), kAdd);
  }
  return {total};
}

template <class To, class From, class Function>
Tensor map_of(const Tensor& x, Function function) {
  Tensor result(data_type_of<To>(), x.dims());
  const From* from = x.values<From>();
  std::transform(from, from + x.elements(), result.mutable_values<To>(), function);
  return result;
}

Tensors relu(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return map_of<T, T>(x, [](T value) { return value < T{0} ? T{0} : value; });
  })};
}

Tensors sigmoid(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return map_of<T, T>(x, [](T value) { return T{1} / (T{1} + std::exp(-value)); });
  })};
}

Tensors tanh(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return map_of<T, T>(x, [](T value) { return std::tanh(value); });
  })};
}

/// One of Clip's bounds: an attribute before opset 11, an optional input since.
template <class T>
T bound(const NodeContext& node, const Tensors& inputs, std::size_t index, const char* name,
        T otherwise) {
  if (node.opset < 11) {
    return static_cast<T>(attribute(*node.node, name, static_cast<float>(otherwise)));
  }
  const Tensor& tensor = optional_input(inputs, index);
  if (!tensor.present()) return otherwise;
  require_same_type(node, inputs[0], tensor);
  if (tensor.elements() != 1) {
    throw failure(node, fmt::format("its bound is {}, a scalar is needed", describe(tensor)));
  }
  return *tensor.values<T>();
}

Tensors clip(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (node.opset < 11 && x.type() != onnx::TensorProto::FLOAT) {
    throw failure(node, fmt::format("it is not computed on {}", describe(x)));
  }
  return {visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    const T low = bound(node, inputs, 1, "min", std::numeric_limits<T>::lowest());
    const T high = bound(node, inputs, 2, "max", std::numeric_limits<T>::max());
    // The upper bound wins where the two are the wrong way round.
    return map_of<T, T>(x, [=](T value) { return std::min(high, std::max(low, value)); });
  })};
}

/// What ONNX leaves open, a float beyond an integer's range, becomes the nearest integer; NaN 0.
template <class To, class From>
To cast_value(From value) {
  constexpr bool kFromFloat = !std::numeric_limits<From>::is_integer;
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::numeric_limits<To>::is_integer && kFromFloat) {
    const auto real = static_cast<double>(value);
    if (std::isnan(real)) return To{0};
    if (real <= static_cast<double>(std::numeric_limits<To>::min())) {
      return std::numeric_limits<To>::min();
    }
    if (real >= static_cast<double>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    return static_cast<To>(real);
  } else if constexpr (sizeof(To) == 2) {
    return To(static_cast<float>(value));  // the 16-bit floats are Eigen's
  } else {
    return static_cast<To>(value);
  }
}

template <class Function>
Tensor visit_all(const NodeContext& node, DataType type, Function function) {
  return visit_types<float, double, std::int8_t, std::uint8_t, std::int32_t, std::int64_t, bool,
                     Eigen::half, Eigen::bfloat16>(node, type, function);
}

Tensors cast(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const auto to = static_cast<DataType>(attribute(*node.node, "to", std::int64_t{0}));
  if (to == x.type()) return {x};
  return {visit_all(node, x.type(), [&](auto from_zero) {
    using From = decltype(from_zero);
    return visit_all(node, to, [&](auto to_zero) {
      using To = decltype(to_zero);
      return map_of<To, From>(x, [](From value) { return cast_value<To, From>(value); });
    });
  })};
}

}  // namespace

std::vector<OperatorEntry> elementwise_operators() {
  return {{"Add", 7, add},         {"Mul", 7, mul},   {"Sum", 1, sum},   {"Relu", 1, relu},
          {"Sigmoid", 1, sigmoid}, {"Tanh", 1, tanh}, {"Clip", 6, clip}, {"Cast", 6, cast}};
}

}  // namespace gemm64

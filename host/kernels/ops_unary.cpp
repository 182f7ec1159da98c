// SPDX-License-Identifier: Apache-2.0
// Functions of each element by itself.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "host/kernels/elementwise.hpp"
#include "host/kernels/float_functions.hpp"

namespace gemm64 {
namespace host {
namespace {

template <class Function>
Tensors floats(const NodeContext& node, const Tensors& inputs, Function function) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return map<T, T>(x, [&](T value) { return static_cast<T>(function(value)); });
  })};
}

template <class Function>
Tensors numbers(const NodeContext& node, const Tensors& inputs, Function function) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return map<T, T>(x, [&](T value) { return static_cast<T>(function(value)); });
  })};
}

template <class Function>
Tensors tests(const NodeContext& node, const Tensors& inputs, Function function) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_floats(node, x.type(),
                       [&](auto zero) { return map<bool, decltype(zero)>(x, function); })};
}

/// As `floats`, with a function of its own for float32.
template <class Exact, class Function>
Tensors floats(const NodeContext& node, const Tensors& inputs, Exact of_float, Function function) {
  return floats(node, inputs, [&](auto x) {
    if constexpr (std::is_same_v<decltype(x), float>) {
      return of_float(x);
    } else {
      return function(x);
    }
  });
}

float number(const NodeContext& node, const char* name, float otherwise) {
  return attribute(*node.node, name, otherwise);
}

template <class T>
T logistic(T value) {
  return T{1} / (T{1} + std::exp(-value));
}

template <class T>
T soft_plus(T value) {
  // Without overflow, and exact where exp is small.
  return std::max(value, T{0}) + std::log1p(std::exp(-std::abs(value)));
}

}  // namespace

Tensors acos(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::acos(x); });
}
Tensors acosh(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::acosh(x); });
}
Tensors asin(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::asin(x); });
}
Tensors asinh(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::asinh(x); });
}
Tensors atan(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::atan(x); });
}
Tensors atanh(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::atanh(x); });
}
Tensors ceil(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::ceil(x); });
}
Tensors cos(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::cos(x); });
}
Tensors cosh(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::cosh(x); });
}
Tensors erf(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, float_functions::erf, [](auto x) { return std::erf(x); });
}
Tensors exp(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, float_functions::exp, [](auto x) { return std::exp(x); });
}
Tensors floor(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::floor(x); });
}
Tensors log(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::log(x); });
}
Tensors mish(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return x * std::tanh(soft_plus(x)); });
}
Tensors reciprocal(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return decltype(x){1} / x; });
}
/// Half to even.
Tensors round(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::nearbyint(x); });
}
Tensors sigmoid(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, float_functions::logistic, [](auto x) { return logistic(x); });
}
Tensors sin(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::sin(x); });
}
Tensors sinh(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::sinh(x); });
}
Tensors softplus(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return soft_plus(x); });
}
Tensors softsign(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return x / (1 + std::abs(x)); });
}
Tensors sqrt(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::sqrt(x); });
}
Tensors tan(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) { return std::tan(x); });
}
Tensors tanh(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, float_functions::tanh, [](auto x) { return std::tanh(x); });
}

Tensors abs(const NodeContext& node, const Tensors& inputs) {
  return numbers(node, inputs, [](auto x) {
    if constexpr (std::is_unsigned_v<decltype(x)>) {
      return x;
    } else {
      return x < 0 ? static_cast<decltype(x)>(0 - static_cast<decltype(x + 0)>(x))
                   : static_cast<decltype(x)>(x == 0 ? decltype(x){0} : x);
    }
  });
}

/// The smallest integer has no counterpart and stays.
Tensors neg(const NodeContext& node, const Tensors& inputs) {
  return numbers(node, inputs, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
    }
  });
}

Tensors relu(const NodeContext& node, const Tensors& inputs) {
  return numbers(node, inputs, [](auto x) { return x < 0 ? decltype(x){0} : x; });
}

Tensors sign(const NodeContext& node, const Tensors& inputs) {
  return numbers(node, inputs,
                 [](auto x) { return is_nan(x) ? x : decltype(x)((x > 0) - (x < 0)); });
}

Tensors logical_not(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (x.type() != onnx::TensorProto::BOOL) {
    throw failure(node, fmt::format("its input is {}; bool is needed", describe(x)));
  }
  return {map<bool, bool>(x, std::logical_not<>())};
}

Tensors is_nan(const NodeContext& node, const Tensors& inputs) {
  return tests(node, inputs, [](auto x) { return std::isnan(x); });
}

Tensors is_inf(const NodeContext& node, const Tensors& inputs) {
  const bool negative = attribute(*node.node, "detect_negative", std::int64_t{1}) != 0;
  const bool positive = attribute(*node.node, "detect_positive", std::int64_t{1}) != 0;
  return tests(node, inputs,
               [=](auto x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

Tensors celu(const NodeContext& node, const Tensors& inputs) {
  const float alpha = number(node, "alpha", 1.0F);
  return floats(node, inputs, [alpha](auto x) {
    using T = decltype(x);
    return std::max(x, T{0}) + std::min(T{0}, T(alpha) * (std::exp(x / T(alpha)) - 1));
  });
}

Tensors elu(const NodeContext& node, const Tensors& inputs) {
  const float alpha = number(node, "alpha", 1.0F);
  return floats(node, inputs,
                [alpha](auto x) { return x < 0 ? decltype(x)(alpha) * std::expm1(x) : x; });
}

Tensors selu(const NodeContext& node, const Tensors& inputs) {
  const float alpha = number(node, "alpha", 1.67326319217681884765625F);
  const float gamma = number(node, "gamma", 1.05070102214813232421875F);
  return floats(node, inputs, [=](auto x) {
    using T = decltype(x);
    return T(gamma) * (x > 0 ? x : T(alpha) * std::expm1(x));
  });
}

Tensors leaky_relu(const NodeContext& node, const Tensors& inputs) {
  const float alpha = number(node, "alpha", 0.01F);
  return floats(node, inputs, [alpha](auto x) { return x < 0 ? decltype(x)(alpha) * x : x; });
}

Tensors thresholded_relu(const NodeContext& node, const Tensors& inputs) {
  const float alpha = number(node, "alpha", 1.0F);
  return floats(node, inputs, [alpha](auto x) { return x > alpha ? x : decltype(x){0}; });
}

Tensors shrink(const NodeContext& node, const Tensors& inputs) {
  const float lambda = number(node, "lambd", 0.5F);
  const float bias = number(node, "bias", 0.0F);
  return numbers(node, inputs, [=](auto x) {
    const auto value = static_cast<double>(x);
    return static_cast<decltype(x)>(value < -lambda  ? value + bias
                                    : value > lambda ? value - bias
                                                     : 0);
  });
}

Tensors hard_sigmoid(const NodeContext& node, const Tensors& inputs) {
  const float alpha = number(node, "alpha", 0.2F);
  const float beta = number(node, "beta", 0.5F);
  return floats(node, inputs, [=](auto x) {
    using T = decltype(x);
    return std::max(T{0}, std::min(T{1}, T(alpha) * x + T(beta)));
  });
}

Tensors hard_swish(const NodeContext& node, const Tensors& inputs) {
  return floats(node, inputs, [](auto x) {
    using T = decltype(x);
    constexpr T kSixth = T{1} / T{6};  // by which ONNX multiplies
    return x * std::max(T{0}, std::min(T{1}, kSixth * x + T{0.5}));
  });
}

Tensors swish(const NodeContext& node, const Tensors& inputs) {
  const float alpha = number(node, "alpha", 1.0F);
  return floats(
      node, inputs, [alpha](float x) { return float_functions::quick_gelu(x, alpha); },
      [alpha](auto x) { return x * logistic(decltype(x)(alpha) * x); });
}

Tensors gelu(const NodeContext& node, const Tensors& inputs) {
  const std::string form = attribute(*node.node, "approximate", std::string("none"));
  if (form != "none" && form != "tanh") {
    throw failure(node, fmt::format("approximate is '{}'; use none or tanh", printable(form)));
  }
  constexpr double kRootOfHalf = 0.70710678118654752;
  constexpr double kRootOfTwoByPi = 0.79788456080286536;
  if (form == "none") {
    return floats(node, inputs, float_functions::gelu,
                  [](auto x) { return x * (1 + std::erf(x * kRootOfHalf)) / 2; });
  }
  return floats(node, inputs, float_functions::tanh_gelu, [](auto x) {
    return x * (1 + std::tanh(kRootOfTwoByPi * (x + 0.044715 * x * x * x))) / 2;
  });
}

namespace {

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
    throw failure(node, fmt::format("its bound is {}; a scalar is needed", describe(tensor)));
  }
  return *tensor.values<T>();
}

}  // namespace

Tensors clip(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (node.opset < 11 && x.type() != onnx::TensorProto::FLOAT) {
    throw failure(node, fmt::format("{} is not supported", describe(x)));
  }
  return {visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    const T low = bound(node, inputs, 1, "min", std::numeric_limits<T>::lowest());
    const T high = bound(node, inputs, 2, "max", std::numeric_limits<T>::max());
    // The upper bound wins where the two are the wrong way round; what equals one stays, -0, too.
    return map<T, T>(x, [=](T value) { return std::min(std::max(value, low), high); });
  })};
}

}  // namespace host
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's own forms of Gelu.
#include <cmath>

#include "host/kernels/elementwise.hpp"
#include "host/kernels/float_functions.hpp"

namespace gemm64 {
namespace host {
namespace {

/// function(x + bias), of_float for float32; the bias, a vector as long as the last axis, may be
/// absent.
template <class Exact, class Function>
Tensors of_sum(const NodeContext& node, const Tensors& inputs, Exact of_float, Function function) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& bias = optional_input(inputs, 1);
  if (bias.present()) {
    require_same_type(node, x, bias);
    if (x.rank() == 0 || bias.dims() != Dims{x.dims().back()}) {
      throw failure(node, fmt::format("its bias {} does not fit {}", describe(bias), describe(x)));
    }
  }
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    const auto of = [&](T value) {
      if constexpr (std::is_same_v<T, float>) {
        return of_float(value);
      } else {
        return static_cast<T>(function(static_cast<double>(value)));
      }
    };
    if (!bias.present()) return map<T, T>(x, of);
    return zip<T, T, T>(x, bias, x.dims(), [&](T a, T b) { return of(a + b); });
  })};
}

}  // namespace

Tensors bias_gelu(const NodeContext& node, const Tensors& inputs) {
  input(node, inputs, 1);
  return of_sum(node, inputs, float_functions::gelu,
                [](double x) { return x * (1 + std::erf(x * std::sqrt(0.5))) / 2; });
}

/// By the hyperbolic tangent.
Tensors fast_gelu(const NodeContext& node, const Tensors& inputs) {
  constexpr double kRootOfTwoByPi = 0.79788456080286536;
  return of_sum(node, inputs, float_functions::tanh_gelu, [](double x) {
    return x * (1 + std::tanh(kRootOfTwoByPi * (x + 0.044715 * x * x * x))) / 2;
  });
}

/// By the logistic function.
Tensors quick_gelu(const NodeContext& node, const Tensors& inputs) {
  const float alpha = attribute(*node.node, "alpha", 1.702F);
  return of_sum(
      node, inputs, [alpha](float x) { return float_functions::quick_gelu(x, alpha); },
      [alpha](double x) { return x / (1 + std::exp(-double{alpha} * x)); });
}

}  // namespace host
}  // namespace gemm64

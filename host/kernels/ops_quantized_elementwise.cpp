// SPDX-License-Identifier: Apache-2.0
// Additions, products and functions of quantized tensors, element by element.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "host/kernels/elementwise.hpp"
#include "host/kernels/float_functions.hpp"
#include "host/kernels/quantization.hpp"

namespace gemm64 {

bool is_addition_swapped(const Dims& a, const Dims& b) {
  for (std::size_t back = 1; back <= std::max(a.size(), b.size()); ++back) {
    const std::int64_t left = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t right = back <= b.size() ? b[b.size() - back] : 1;
    if (left != right) return left == 1;
    if (left != 1) return false;
  }
  return false;
}

namespace host {

OperatorFunction concat;  // ops_move.cpp
OperatorFunction where;   // ops_binary.cpp

namespace {

/// Inputs A, its scale and zero point, B and its own, the output's scale and zero point.
struct BinaryOperands {
  const Tensor& a;
  const Tensor& b;
  Quantization of_a, of_b, of_y;
};

BinaryOperands binary_operands(const NodeContext& node, const Tensors& inputs) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& b = input(node, inputs, 3);
  require_same_type(node, a, b);
  return {a, b, quantization_of(node, inputs, 1, a.type()),
          quantization_of(node, inputs, 4, a.type()), quantization_of(node, inputs, 6, a.type())};
}

template <class T>
Tensor add_of(const NodeContext& node, const BinaryOperands& in) {
  const Dims dims = stretched(node, in.a, in.b);
  const bool swap = is_addition_swapped(in.a.dims(), in.b.dims());
  const Tensor& a = swap ? in.b : in.a;
  const Tensor& b = swap ? in.a : in.b;
  const Quantization& of_a = swap ? in.of_b : in.of_a;
  const Quantization& of_b = swap ? in.of_a : in.of_b;
  const float a_ratio = of_a.scale / in.of_y.scale;
  const float b_ratio = of_b.scale / in.of_y.scale;
  const auto a_zero = static_cast<float>(of_a.zero);
  const auto b_zero = static_cast<float>(of_b.zero);
  const float fixed =
      static_cast<float>(in.of_y.zero) - std::fma(a_ratio, a_zero, b_ratio * b_zero);
  // What b adds, once for each of its values.
  std::array<float, 256> from_b;
  for (int i = 0; i < 256; ++i) {
    from_b[static_cast<std::size_t>(i)] =
        std::fma(static_cast<float>(static_cast<T>(i)), b_ratio, fixed);
  }
  return zip<T, T, T>(a, b, dims, [&](T left, T right) {
    const float sum =
        std::fma(static_cast<float>(left), a_ratio, from_b[static_cast<std::uint8_t>(right)]);
    return to_quantized<T>(sum, 0);
  });
}

template <class T>
Tensor multiply_of(const NodeContext& node, const BinaryOperands& in) {
  const float ratio = in.of_a.scale * in.of_b.scale / in.of_y.scale;
  const auto zero = static_cast<float>(in.of_y.zero);
  return zip<T, T, T>(in.a, in.b, stretched(node, in.a, in.b), [&](T left, T right) {
    const auto product = static_cast<float>((left - in.of_a.zero) * (right - in.of_b.zero));
    return to_quantized<T>(product * ratio + zero, 0);
  });
}

}  // namespace

Tensors qlinear_add(const NodeContext& node, const Tensors& inputs) {
  const BinaryOperands in = binary_operands(node, inputs);
  return {
      visit_bytes(node, in.a.type(), [&](auto kind) { return add_of<decltype(kind)>(node, in); })};
}

Tensors qlinear_mul(const NodeContext& node, const Tensors& inputs) {
  const BinaryOperands in = binary_operands(node, inputs);
  return {visit_bytes(node, in.a.type(),
                      [&](auto kind) { return multiply_of<decltype(kind)>(node, in); })};
}

namespace {

/// What each of the 256 values becomes.
template <class T, class Function>
std::array<T, 256> function_table(const Quantization& from, const Quantization& to,
                                  Function function) {
  std::array<T, 256> table;
  for (int i = 0; i < 256; ++i) {
    const float x = from.scale * static_cast<float>(static_cast<T>(i) - from.zero);
    table[static_cast<std::size_t>(i)] = to_quantized<T>(function(x) / to.scale, to.zero);
  }
  return table;
}

/// A function of one quantized tensor: X, its scale and zero point, the output's.
template <class Function>
Tensors unary(const NodeContext& node, const Tensors& inputs, Function function) {
  const Tensor& x = input(node, inputs, 0);
  const Quantization from = quantization_of(node, inputs, 1, x.type());
  const Quantization to = quantization_of(node, inputs, 3, x.type());
  return {visit_bytes(node, x.type(), [&](auto kind) {
    using T = decltype(kind);
    const std::array<T, 256> table = function_table<T>(from, to, function);
    return map<T, T>(x, [&](T value) { return table[static_cast<std::uint8_t>(value)]; });
  })};
}

/// The tensor in other steps.
Tensor in_steps(const NodeContext& node, const Tensor& x, const Quantization& from,
                const Quantization& to) {
  if (from == to) return x;
  return visit_bytes(node, x.type(), [&](auto kind) {
    using T = decltype(kind);
    const std::array<T, 256> table = function_table<T>(from, to, [](float value) { return value; });
    return map<T, T>(x, [&](T value) { return table[static_cast<std::uint8_t>(value)]; });
  });
}

}  // namespace

Tensors qlinear_sigmoid(const NodeContext& node, const Tensors& inputs) {
  return unary(node, inputs, float_functions::logistic);
}

Tensors qlinear_leaky_relu(const NodeContext& node, const Tensors& inputs) {
  const float alpha = attribute(*node.node, "alpha", 0.01F);
  return unary(node, inputs, [alpha](float x) { return x >= 0 ? x : alpha * x; });
}

Tensors qlinear_concat(const NodeContext& node, const Tensors& inputs) {
  const DataType type = input(node, inputs, 1).type();
  const Quantization to = quantization_of(node, inputs, 0, type);
  Tensors parts;
  for (std::size_t i = 2; i < inputs.size(); i += 3) {
    const Tensor& part = input(node, inputs, i);
    if (part.type() != type) {
      throw failure(node, fmt::format("its input {} is not of type {}", describe(part),
                                      data_type_name(type)));
    }
    parts.push_back(in_steps(node, part, quantization_of(node, inputs, i + 1, type), to));
  }
  return concat(node, parts);
}

Tensors qlinear_where(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 1);
  const Tensor& y = input(node, inputs, 4);
  require_same_type(node, x, y);
  const Quantization to = quantization_of(node, inputs, 7, x.type());
  return where(node, {input(node, inputs, 0),
                      in_steps(node, x, quantization_of(node, inputs, 2, x.type()), to),
                      in_steps(node, y, quantization_of(node, inputs, 5, x.type()), to)});
}

}  // namespace host
}  // namespace gemm64

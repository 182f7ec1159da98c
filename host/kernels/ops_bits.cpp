// SPDX-License-Identifier: Apache-2.0
// Operators on the bits of integers: BitShift, BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor; and
// BitCast, which reads them as another type.
#include <fmt/format.h>

#include <cstring>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/elementwise.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

template <class Function>
auto visit_integers(const NodeContext& node, DataType type, Function function) {
  return visit_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                     std::uint32_t, std::int64_t, std::uint64_t>(node, type, function);
}

template <class Function>
Tensors elementwise(const NodeContext& node, const Tensors& inputs, Function function) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& b = input(node, inputs, 1);
  require_same_type(node, a, b);
  const Dims dims = stretched(node, a, b);
  return {visit_integers(node, a.type(), [&](auto zero) {
    using T = decltype(zero);
    return zip<T, T, T>(a, b, dims, [&](T x, T y) { return static_cast<T>(function(x, y)); });
  })};
}

}  // namespace

Tensors bit_shift(const NodeContext& node, const Tensors& inputs) {
  const std::string direction = attribute(*node.node, "direction", std::string());
  if (direction != "LEFT" && direction != "RIGHT") {
    throw failure(node,
                  fmt::format("direction '{}' is neither LEFT nor RIGHT", printable(direction)));
  }
  // What is shifted by all bits or more is 0, or the sign.
  const bool left = direction == "LEFT";
  return elementwise(node, inputs, [left](auto value, auto shift) {
    using T = decltype(value);
    const auto bits = static_cast<std::uint64_t>(sizeof(T)) * 8;
    const auto by = static_cast<std::uint64_t>(shift);
    if (by >= bits) return !left && value < 0 ? static_cast<T>(-1) : T{0};
    return left ? static_cast<T>(static_cast<std::uint64_t>(value) << by)
                : static_cast<T>(value >> by);
  });
}

Tensors bitwise_and(const NodeContext& node, const Tensors& inputs) {
  return elementwise(node, inputs, [](auto a, auto b) { return a & b; });
}

Tensors bitwise_or(const NodeContext& node, const Tensors& inputs) {
  return elementwise(node, inputs, [](auto a, auto b) { return a | b; });
}

Tensors bitwise_xor(const NodeContext& node, const Tensors& inputs) {
  return elementwise(node, inputs, [](auto a, auto b) { return a ^ b; });
}

Tensors bitwise_not(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_integers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return map<T, T>(x, [](T value) { return static_cast<T>(~value); });
  })};
}

Tensors bit_cast(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const auto to = static_cast<DataType>(attribute(*node.node, "to", std::int64_t{0}));
  Tensor result(to, x.dims());
  if (element_bits(to) != element_bits(x.type())) {
    throw failure(node, fmt::format("{} has values of {} bits, {} of {}", describe(x),
                                    element_bits(x.type()), data_type_name(to), element_bits(to)));
  }
  if (x.bytes() > 0) std::memcpy(result.mutable_raw(), x.raw(), x.bytes());
  return {result};
}

}  // namespace host
}  // namespace gemm64

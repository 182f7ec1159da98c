// SPDX-License-Identifier: Apache-2.0
// Cast, in two steps: from any type to double (or int64, among integers), and from there to any.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/small_types.hpp"

namespace gemm64 {
namespace host {
namespace {

using onnx::TensorProto;

constexpr std::size_t kBlock = 1024;

template <class Function>
bool with_type(DataType type, Function function) {
  const auto found = [&](auto zero) {
    function(zero);
    return true;
  };
  switch (type) {
    case TensorProto::FLOAT:
      return found(float{});
    case TensorProto::DOUBLE:
      return found(double{});
    case TensorProto::FLOAT16:
      return found(Eigen::half{});
    case TensorProto::BFLOAT16:
      return found(Eigen::bfloat16{});
    case TensorProto::INT8:
      return found(std::int8_t{});
    case TensorProto::UINT8:
      return found(std::uint8_t{});
    case TensorProto::INT16:
      return found(std::int16_t{});
    case TensorProto::UINT16:
      return found(std::uint16_t{});
    case TensorProto::INT32:
      return found(std::int32_t{});
    case TensorProto::UINT32:
      return found(std::uint32_t{});
    case TensorProto::INT64:
      return found(std::int64_t{});
    case TensorProto::UINT64:
      return found(std::uint64_t{});
    case TensorProto::BOOL:
      return found(bool{});
    default:
      return false;
  }
}

bool is_integer(DataType type) {
  bool result = false;
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    result = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  });
  return result;
}

/// Values `begin` to `begin + count` of a tensor as Middle.
template <class Middle>
void read(const Tensor& from, std::size_t begin, std::size_t count, Middle* to) {
  const bool known = with_type(from.type(), [&](auto zero) {
    using T = decltype(zero);
    const T* values = from.values<T>() + begin;
    std::transform(values, values + count, to, [](T value) { return static_cast<Middle>(value); });
  });
  if (known) return;
  const auto* bits = reinterpret_cast<const std::uint8_t*>(from.raw()) + begin;
  std::transform(bits, bits + count, to, [&](std::uint8_t value) {
    return static_cast<Middle>(decode_small(from.type(), value));
  });
}

/// What ONNX leaves open, a float beyond an integer's range, becomes the nearest integer; NaN 0.
template <class To>
To from_real(double value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To>) {
    if (std::isnan(value)) return To{0};
    if (value <= static_cast<double>(std::numeric_limits<To>::min())) {
      return std::numeric_limits<To>::min();
    }
    if (value >= static_cast<double>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

void write(const double* from, std::size_t begin, std::size_t count, const SmallRounding& rounding,
           Tensor& to) {
  const bool known = with_type(to.type(), [&](auto zero) {
    using T = decltype(zero);
    std::transform(from, from + count, to.mutable_values<T>() + begin, from_real<T>);
  });
  if (known) return;
  auto* bits = reinterpret_cast<std::uint8_t*>(to.mutable_raw()) + begin;
  std::transform(from, from + count, bits,
                 [&](double value) { return encode_small(to.type(), value, rounding); });
}

/// Among integers the lowest bits stay.
void write(const std::int64_t* from, std::size_t begin, std::size_t count,
           const SmallRounding& /*rounding*/, Tensor& to) {
  with_type(to.type(), [&](auto zero) {
    using T = decltype(zero);
    std::transform(from, from + count, to.mutable_values<T>() + begin,
                   [](std::int64_t value) { return static_cast<T>(value); });
  });
}

template <class Middle>
Tensor convert(const Tensor& from, DataType type, const SmallRounding& rounding) {
  Tensor to(type, from.dims());
  std::array<Middle, kBlock> block;
  const auto elements = static_cast<std::size_t>(from.elements());
  for (std::size_t begin = 0; begin < elements; begin += kBlock) {
    const std::size_t count = std::min(kBlock, elements - begin);
    read(from, begin, count, block.data());
    write(block.data(), begin, count, rounding, to);
  }
  return to;
}

Tensor cast_to(const NodeContext& node, const Tensor& x, DataType type) {
  if (!is_computable(type)) {
    throw failure(node, fmt::format("it cannot make {} of {}", data_type_name(type), describe(x)));
  }
  if (type == x.type()) return x;
  SmallRounding rounding;
  rounding.saturate = attribute(*node.node, "saturate", std::int64_t{1}) != 0;
  const std::string mode = attribute(*node.node, "round_mode", std::string("up"));
  if (mode != "up" && mode != "down" && mode != "nearest") {
    throw failure(node,
                  fmt::format("round_mode is '{}'; use up, down or nearest", printable(mode)));
  }
  rounding.power = mode == "up"     ? PowerRounding::kUp
                   : mode == "down" ? PowerRounding::kDown
                                    : PowerRounding::kNearest;
  if (is_integer(x.type()) && is_integer(type)) return convert<std::int64_t>(x, type, rounding);
  return convert<double>(x, type, rounding);
}

}  // namespace

Tensors cast(const NodeContext& node, const Tensors& inputs) {
  return {cast_to(node, input(node, inputs, 0),
                  static_cast<DataType>(attribute(*node.node, "to", std::int64_t{0})))};
}

Tensors cast_like(const NodeContext& node, const Tensors& inputs) {
  return {cast_to(node, input(node, inputs, 0), input(node, inputs, 1).type())};
}

}  // namespace host
}  // namespace gemm64

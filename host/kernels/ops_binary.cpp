// SPDX-License-Identifier: Apache-2.0
// Operators on pairs of elements: arithmetic, comparisons, logic, and Where.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "host/kernels/elementwise.hpp"

namespace gemm64 {

Dims stretched(const NodeContext& node, const Tensor& a, const Tensor& b) {
  Dims dims;
  if (!broadcast_dims(a.dims(), b.dims(), dims)) {
    throw failure(
        node, fmt::format("its inputs, {} and {}, do not fit together", describe(a), describe(b)));
  }
  return dims;
}

namespace host {
namespace {

template <class Function>
Tensor pairs(const NodeContext& node, const Tensor& a, const Tensor& b, Function function) {
  require_same_type(node, a, b);
  const Dims dims = stretched(node, a, b);
  return visit_numbers(node, a.type(), [&](auto zero) {
    using T = decltype(zero);
    return zip<T, T, T>(a, b, dims, function);
  });
}

/// The same for any number of inputs, from the first on.
template <class Function>
Tensors all_pairs(const NodeContext& node, const Tensors& inputs, Function function) {
  Tensor result = input(node, inputs, 0);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    result = pairs(node, result, input(node, inputs, i), function);
  }
  return {result};
}

template <class Function>
Tensors comparison(const NodeContext& node, const Tensors& inputs, Function function) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& b = input(node, inputs, 1);
  require_same_type(node, a, b);
  const Dims dims = stretched(node, a, b);
  return {visit_types<float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                      std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, bool>(
      node, a.type(), [&](auto zero) {
        using T = decltype(zero);
        return zip<bool, T, T>(a, b, dims, function);
      })};
}

template <class Function>
Tensors logic(const NodeContext& node, const Tensors& inputs, Function function) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& b = input(node, inputs, 1);
  if (a.type() != onnx::TensorProto::BOOL || b.type() != onnx::TensorProto::BOOL) {
    throw failure(
        node, fmt::format("its inputs are {} and {}; bool is needed", describe(a), describe(b)));
  }
  return {zip<bool, bool, bool>(a, b, stretched(node, a, b), function)};
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
constexpr auto kSubtract = [](auto a, auto b) { return wrapping(a, b, std::minus<>()); };
constexpr auto kMultiply = [](auto a, auto b) { return wrapping(a, b, std::multiplies<>()); };

/// Integers towards zero; what they divide by is not 0.
template <class T>
T quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    // -1 apart, since the smallest integer has no counterpart.
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return kSubtract(T{0}, a);
    return static_cast<T>(a / b);
  }
}

/// What is left of a division: of the divisor's sign, or of the dividend's where `like_c`.
template <class T>
T remainder(T a, T b, bool like_c) {
  if constexpr (std::is_floating_point_v<T>) {
    const T rest = std::fmod(a, b);
    if (like_c) return rest;
    if (rest == 0) return std::copysign(rest, b);
    return (rest < 0) == (b < 0) ? rest : rest + b;
  } else {
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
    const T rest = static_cast<T>(a % b);
    return like_c || rest == 0 || (rest < 0) == (b < 0) ? rest : static_cast<T>(rest + b);
  }
}

void require_no_zero(const NodeContext& node, const Tensor& divisor) {
  visit_numbers(node, divisor.type(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_floating_point_v<T>) {
      const T* values = divisor.values<T>();
      if (std::find(values, values + divisor.elements(), T{0}) != values + divisor.elements()) {
        throw failure(node, "it divides an integer by 0");
      }
    }
    return 0;
  });
}

template <class T, class Exponent>
T power(T base, Exponent exponent) {
  if constexpr (std::is_same_v<T, float> && !std::is_same_v<Exponent, double>) {
    return std::pow(base, static_cast<float>(exponent));
  } else if constexpr (std::is_integral_v<T> && std::is_integral_v<Exponent>) {
    if (exponent < 0)
      return static_cast<T>(base == 1 ? 1 : base == T(-1) ? 1 - 2 * (exponent & 1) : 0);
    T result = 1;
    for (auto rest = static_cast<std::uint64_t>(exponent); rest != 0; rest /= 2) {
      if (rest % 2 != 0) result = kMultiply(result, base);
      base = kMultiply(base, base);
    }
    return result;
  } else {
    return static_cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
}

}  // namespace

Tensors add(const NodeContext& node, const Tensors& inputs) {
  return {pairs(node, input(node, inputs, 0), input(node, inputs, 1), kAdd)};
}

Tensors sub(const NodeContext& node, const Tensors& inputs) {
  return {pairs(node, input(node, inputs, 0), input(node, inputs, 1), kSubtract)};
}

Tensors mul(const NodeContext& node, const Tensors& inputs) {
  return {pairs(node, input(node, inputs, 0), input(node, inputs, 1), kMultiply)};
}

Tensors div(const NodeContext& node, const Tensors& inputs) {
  require_no_zero(node, input(node, inputs, 1));
  return {pairs(node, input(node, inputs, 0), inputs[1],
                [](auto a, auto b) { return quotient(a, b); })};
}

Tensors mod(const NodeContext& node, const Tensors& inputs) {
  const bool like_c = attribute(*node.node, "fmod", std::int64_t{0}) != 0;
  require_no_zero(node, input(node, inputs, 1));
  return {pairs(node, input(node, inputs, 0), inputs[1],
                [like_c](auto a, auto b) { return remainder(a, b, like_c); })};
}

Tensors pow(const NodeContext& node, const Tensors& inputs) {
  const Tensor& base = input(node, inputs, 0);
  const Tensor& exponent = input(node, inputs, 1);
  const Dims dims = stretched(node, base, exponent);
  return {visit_types<float, double, std::int32_t, std::int64_t>(
      node, base.type(), [&](auto base_zero) {
        using T = decltype(base_zero);
        return visit_numbers(node, exponent.type(), [&](auto exponent_zero) {
          using E = decltype(exponent_zero);
          return zip<T, T, E>(base, exponent, dims, power<T, E>);
        });
      })};
}

Tensors sum(const NodeContext& node, const Tensors& inputs) {
  return all_pairs(node, inputs, kAdd);
}

Tensors mean(const NodeContext& node, const Tensors& inputs) {
  const Tensor total = sum(node, inputs)[0];
  const auto count = static_cast<double>(inputs.size());
  return {visit_floats(node, total.type(), [&](auto zero) {
    using T = decltype(zero);
    return map<T, T>(total, [count](T value) { return value / static_cast<T>(count); });
  })};
}

// What is not a number stays so.
Tensors max(const NodeContext& node, const Tensors& inputs) {
  return all_pairs(node, inputs, [](auto a, auto b) { return is_nan(a) || a > b ? a : b; });
}

Tensors min(const NodeContext& node, const Tensors& inputs) {
  return all_pairs(node, inputs, [](auto a, auto b) { return is_nan(a) || a < b ? a : b; });
}

Tensors equal(const NodeContext& node, const Tensors& inputs) {
  return comparison(node, inputs, std::equal_to<>());
}

Tensors less(const NodeContext& node, const Tensors& inputs) {
  return comparison(node, inputs, std::less<>());
}

Tensors less_or_equal(const NodeContext& node, const Tensors& inputs) {
  return comparison(node, inputs, std::less_equal<>());
}

Tensors greater(const NodeContext& node, const Tensors& inputs) {
  return comparison(node, inputs, std::greater<>());
}

Tensors greater_or_equal(const NodeContext& node, const Tensors& inputs) {
  return comparison(node, inputs, std::greater_equal<>());
}

Tensors logical_and(const NodeContext& node, const Tensors& inputs) {
  return logic(node, inputs, std::logical_and<>());
}

Tensors logical_or(const NodeContext& node, const Tensors& inputs) {
  return logic(node, inputs, std::logical_or<>());
}

Tensors logical_xor(const NodeContext& node, const Tensors& inputs) {
  return logic(node, inputs, std::not_equal_to<>());
}

/// The slope is broadcast to the input, never the other way round.
Tensors prelu(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& slope = input(node, inputs, 1);
  if (stretched(node, x, slope) != x.dims()) {
    throw failure(
        node, fmt::format("its slope, {}, does not broadcast to {}", describe(slope), describe(x)));
  }
  return {pairs(node, x, slope, [](auto value, auto factor) {
    return value < 0 ? kMultiply(value, factor) : value;
  })};
}

Tensors where(const NodeContext& node, const Tensors& inputs) {
  const Tensor& condition = input(node, inputs, 0);
  const Tensor& yes = input(node, inputs, 1);
  const Tensor& no = input(node, inputs, 2);
  require_same_type(node, yes, no);
  if (condition.type() != onnx::TensorProto::BOOL) {
    throw failure(node, fmt::format("its condition is {}; bool is needed", describe(condition)));
  }
  Dims dims;
  if (!broadcast_dims(condition.dims(), stretched(node, yes, no), dims)) {
    throw failure(node, fmt::format("its condition is {}, its choices are {} and {}",
                                    describe(condition), describe(yes), describe(no)));
  }
  Tensor result(yes.type(), dims);
  const std::size_t size = result.element_size();
  for_each_row(
      Walk<4>{dims,
              {row_major_strides(dims), broadcast_strides(condition.dims(), dims),
               broadcast_strides(yes.dims(), dims), broadcast_strides(no.dims(), dims)}},
      [&](const auto& offsets, std::int64_t length, const auto& steps) {
        for (std::int64_t i = 0; i < length; ++i) {
          const auto at = [&](std::size_t t) { return offsets[t] + i * steps[t]; };
          const bool choice = condition.values<bool>()[at(1)];
          const std::byte* from = choice ? yes.raw() + static_cast<std::size_t>(at(2)) * size
                                         : no.raw() + static_cast<std::size_t>(at(3)) * size;
          std::memcpy(result.mutable_raw() + static_cast<std::size_t>(at(0)) * size, from, size);
        }
      });
  return {result};
}

}  // namespace host
}  // namespace gemm64

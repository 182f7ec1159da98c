// SPDX-License-Identifier: Apache-2.0
// Quantized values, as ONNX Runtime's kernels compute with them: float32 throughout, ties to even.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {

/// The nearest whole number, ties to even, of a value within ±2^22: adding 1.5·2^23 leaves no bits
/// for a fraction. Unlike std::nearbyint, it is no call on processors without SSE4.1.
inline float round_even(float value) {
  constexpr float kMagic = 12582912.0F;
  return (value + kMagic) - kMagic;
}

/// `value` (in steps of the result's scale) rounded, then moved by the zero point. It is clamped
/// before, so that rounding sees no large numbers; NaN becomes the lowest value.
template <class T>
T to_quantized(float value, std::int32_t zero) {
  constexpr std::int32_t kLow = std::numeric_limits<T>::lowest();
  constexpr std::int32_t kHigh = std::numeric_limits<T>::max();
  const auto low = static_cast<float>(kLow - zero);
  const auto high = static_cast<float>(kHigh - zero);
  const float above = value > low ? value : low;  // also where it is NaN
  const float within = above < high ? above : high;
  return static_cast<T>(static_cast<std::int32_t>(round_even(within)) + zero);
}

/// A scale and a zero point for a whole tensor.
struct Quantization {
  float scale = 1;
  std::int32_t zero = 0;

  bool operator==(const Quantization& other) const {
    return scale == other.scale && zero == other.zero;
  }
};

/// All values of a scale. Throws UsageError where it is not float32 with one dimension at most.
std::vector<float> scales_of(const NodeContext& node, const Tensor& scale);

/// All values of a zero point; one 0 where it is absent. Throws UsageError where it has more than
/// one dimension, or is not of `type`, the type of the values that it belongs to.
std::vector<std::int32_t> zeros_of(const NodeContext& node, const Tensor& zero, DataType type);

/// Inputs `scale` and `scale + 1` of a node, one value each. Throws UsageError where there are
/// more.
Quantization quantization_of(const NodeContext& node, const Tensors& inputs, std::size_t scale,
                             DataType type);

/// Returns whether a QLinearAdd of tensors of these sizes adds its first input to its second one,
/// which ONNX Runtime does if one value of the first is added to a run of values of the second.
bool is_addition_swapped(const Dims& a, const Dims& b);

/// Calls function(T()) with T the 8-bit integer `type`; throws UsageError where it is another.
template <class Function>
auto visit_bytes(const NodeContext& node, DataType type, Function function) {
  return visit_types<std::int8_t, std::uint8_t>(node, type, function);
}

}  // namespace gemm64

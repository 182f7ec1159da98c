// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/quantization.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gemm64 {

std::vector<float> scales_of(const NodeContext& node, const Tensor& scale) {
  if (scale.type() != onnx::TensorProto::FLOAT || scale.rank() > 1 || scale.elements() == 0) {
    throw failure(node, fmt::format("a scale is {}; one float32, or one for each channel is needed",
                                    describe(scale)));
  }
  return {scale.values<float>(), scale.values<float>() + scale.elements()};
}

std::vector<std::int32_t> zeros_of(const NodeContext& node, const Tensor& zero, DataType type) {
  if (!zero.present()) return {0};
  if (zero.type() != type || zero.rank() > 1 || zero.elements() == 0) {
    throw failure(node, fmt::format("a zero point is {}; one {}, or one for each channel is needed",
                                    describe(zero), data_type_name(type)));
  }
  return visit_types<std::int8_t, std::uint8_t, std::int32_t>(node, type, [&](auto kind) {
    const auto* values = zero.values<decltype(kind)>();
    return std::vector<std::int32_t>(values, values + zero.elements());
  });
}

Quantization quantization_of(const NodeContext& node, const Tensors& inputs, std::size_t scale,
                             DataType type) {
  const std::vector<float> scales = scales_of(node, input(node, inputs, scale));
  const std::vector<std::int32_t> zeros = zeros_of(node, optional_input(inputs, scale + 1), type);
  if (scales.size() != 1 || zeros.size() != 1) {
    throw failure(node, fmt::format("input number {} gives each channel its own scale or zero "
                                    "point; only weights may have that",
                                    scale + 1));
  }
  return {scales[0], zeros[0]};
}

bool is_addition_swapped(const Dims& a, const Dims& b) {
  for (std::size_t back = 1; back <= std::max(a.size(), b.size()); ++back) {
    const std::int64_t left = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t right = back <= b.size() ? b[b.size() - back] : 1;
    if (left != right) return left == 1;
    if (left != 1) return false;
  }
  return false;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/dynamic_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gemm64 {

std::pair<Tensor, Quantization> quantize_by_range(const NodeContext& node, const Tensor& x) {
  if (x.type() != onnx::TensorProto::FLOAT) {
    throw failure(node, fmt::format("its input is {}; float32 is needed", describe(x)));
  }
  const float* from = x.values<float>();
  float low = 0;
  float high = 0;
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    low = std::min(low, from[i]);
    high = std::max(high, from[i]);
  }
  Quantization range;
  range.scale = high == low ? 1.0F : (high - low) / 255.0F;
  range.zero =
      static_cast<std::int32_t>(std::nearbyint(std::clamp(0.0F - low / range.scale, 0.0F, 255.0F)));
  Tensor values(onnx::TensorProto::UINT8, x.dims());
  std::transform(
      from, from + x.elements(), values.mutable_values<std::uint8_t>(),
      [&](float value) { return to_quantized<std::uint8_t>(value / range.scale, range.zero); });
  return {values, range};
}

}  // namespace gemm64

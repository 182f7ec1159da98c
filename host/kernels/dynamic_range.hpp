// SPDX-License-Identifier: Apache-2.0
// A float tensor quantized by the range of its own values.
#pragma once

#include <utility>

#include "host/kernels/quantization.hpp"

namespace gemm64 {

/// uint8 values of a float32 tensor, by the smallest range that holds them and 0 (ONNX's
/// DynamicQuantizeLinear), and that range. Throws UsageError where it is not float32.
std::pair<Tensor, Quantization> quantize_by_range(const NodeContext& node, const Tensor& x);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Values that are quantized twice in a row.
#pragma once

#include <optional>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with each QuantizeLinear, DequantizeLinear, QuantizeLinear, DequantizeLinear in a row
/// as one pair, as ONNX Runtime makes it: for the range that both have. Of more than two
/// pairs in a row, only the first two. Empty where there are none without other readers.
///
/// Before: y = DQ(Q(DQ(Q(x, s, z), s, z), t, o), t, o). After: y = DQ(Q(x, u, p), u, p).
std::optional<onnx::ModelProto> fuse_double_pairs(const OnnxModel& model);

}  // namespace gemm64

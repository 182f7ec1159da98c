// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/onnx/model.hpp"
#include "host/proto/onnx.pb.h"

namespace gemm64 {

/// Writes each Split of quantized values (of 8 bits, or what a DequantizeLinear gives) as a Slice
/// for each of its outputs: their sizes are known, and values are moved alone.
void split_to_slices(onnx::GraphProto& graph, const OnnxModel& model);

}  // namespace gemm64

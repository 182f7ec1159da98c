// SPDX-License-Identifier: Apache-2.0
// A float network as it would be once quantized, where its ranges are not measured.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// The graph that quantize_model() would write of a model, whose weights may be missing. Weights
/// and ranges are made up. They change no cycle, but where real ranges are equal by chance (of
/// tensors that are concatenated). They begin at 0, as those after a Relu do, which then is part
/// of the layer before it. BatchNormalization and Pad are folded. Throws UsageError as
/// quantize_model() does.
onnx::ModelProto quantize_shapes(const OnnxModel& model);

}  // namespace gemm64

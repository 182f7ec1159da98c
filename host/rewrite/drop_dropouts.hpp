// SPDX-License-Identifier: Apache-2.0
// Dropouts of training.
#pragma once

#include "host/onnx/model.hpp"
#include "host/proto/onnx.pb.h"

namespace gemm64 {

/// Takes out each Dropout that changes nothing: not in training mode, and nobody reads its mask.
/// What the graph gives as an output keeps its node. ONNX Runtime does so before anything else.
///
/// Before: y = Relu(Dropout(x)). After: y = Relu(x).
void drop_dropouts(onnx::GraphProto& graph, const OnnxModel& model);

}  // namespace gemm64

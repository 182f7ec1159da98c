// SPDX-License-Identifier: Apache-2.0
// Weights that the file computes from constants, as constants.
#pragma once

#include <optional>

#include "host/graph/onnx/model.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// The model with what nodes compute only from constants (a Transpose of weights, say) as an
/// initializer, where it is the weights or the bias of a Conv, Gemm or MatMul, and without nodes
/// that nothing reads then. Nothing where there are none.
///
/// Before: y = MatMul(x, Transpose(w)). After: y = MatMul(x, v), v an initializer.
std::optional<onnx::ModelProto> fold_weights(const OnnxModel& model);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Convolutions that take over the BatchNormalization after them.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// The model with each BatchNormalization that is a Conv's only reader as part of that Conv's
/// weights and bias, where all of them are constants of float32. Computed in double, rounded once.
///
/// Before: y = BatchNormalization(Conv(x, w, b), scale, shift, mean, variance). After: y = Conv(x,
/// v, c).
onnx::ModelProto fold_batch_normalization(const OnnxModel& model);

}  // namespace gemm64

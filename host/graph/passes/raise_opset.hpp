// SPDX-License-Identifier: Apache-2.0
// Networks of older opsets as one of opset 13, the first in which a scale can be for a channel.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// The oldest opset that raise_opset() takes, and the one that it makes.
inline constexpr std::int64_t kFirstRaised = 9;
inline constexpr std::int64_t kRaised = 13;

/// The model, of opset 9 to 12, as one of opset 13 that computes the same: attributes that became
/// inputs, Upsample as Resize, Softmax over all axes from its own on. Names of values stay. Throws
/// UsageError if the opset is older.
///
/// Before: y = Squeeze<axes = [1]>(x) of opset 11. After: y = Squeeze(x, a) of opset 13, a = [1].
onnx::ModelProto raise_opset(const OnnxModel& model);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime finds out about a model before it runs.
#pragma once

#include <cstdint>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64::ort {

/// Returns the model with its constants computed (as initializers), and with the types and shapes
/// of its outputs. Throws Error where ONNX Runtime refuses the model.
onnx::ModelProto analyze(const onnx::ModelProto& model);

/// How often analyze() was called, as tests count it.
std::uint64_t analyses();

}  // namespace gemm64::ort

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// A copy of a model whose initializers have a name, a type and dimensions, and no values, which
/// are most of its bytes. Other parts of the format pass through.
onnx::ModelProto without_data(const onnx::ModelProto& model);

}  // namespace gemm64

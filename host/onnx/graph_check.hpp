// SPDX-License-Identifier: Apache-2.0
// Is a parsed model one that can be worked with?
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>

namespace gemm64 {

/// Checks names, tensors, operators and order, and puts nodes into an order in which they can run
/// where the file has another. Returns the opset of the default domain. Throws UsageError, one line
/// that begins with `file`, at the first fault.
std::int64_t check_graph(onnx::ModelProto& model, bool shapes_only, const std::string& file);

}  // namespace gemm64

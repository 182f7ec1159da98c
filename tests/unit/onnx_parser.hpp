// SPDX-License-Identifier: Apache-2.0
// ONNX's text form, as far as tests write it: see parse_graph.
#pragma once

#include "host/graph/proto/onnx.pb.h"
#include "tests/test.hpp"

namespace gemm64 {

/// "(float[2,N] x) => (float[2] y) <int64[1] s = {7}> {y = Relu(x) ...}". A size is a number, a
/// name or ?; `float[]` leaves the shape open, `float` is a scalar; between < and > stand
/// initializers. Throws std::runtime_error, which shows the place.
onnx::GraphProto parse_graph(const std::string& text);

/// "a, b = com.microsoft.Split <axis = 1, value = float[2] {1, 2}, mode = \"edge\"> (x, , z)".
onnx::NodeProto parse_node(const std::string& text);

}  // namespace gemm64

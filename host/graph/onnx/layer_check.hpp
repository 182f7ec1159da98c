// SPDX-License-Identifier: Apache-2.0
// Demands on shapes that ONNX Runtime makes only where it runs a node: the device's layers need
// them before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/onnx/shapes.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Throws UsageError, which begins with `where`, if the shapes of a convolution, pool, Gemm,
/// BatchNormalization or Reshape do not fit each other or its attributes. Nodes with inputs of
/// unknown shapes pass.
void check_layer(const onnx::NodeProto& node, const ValueFacts& facts, const std::string& where);

/// The output's shape of a pool with ceil_mode, of which ONNX Runtime infers a last window in
/// padding that its kernel leaves out; empty for other nodes, or if the input is unknown.
std::optional<std::vector<std::int64_t>> ceiled_pool(const onnx::NodeProto& node,
                                                     const ValueFacts& facts,
                                                     const std::string& where);

}  // namespace gemm64

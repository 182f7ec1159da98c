// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes, with their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// An attribute of a node, or the default where it has none. Throws UsageError where it has another
/// type, naming the node.
std::int64_t attribute(const onnx::NodeProto& node, const std::string& name,
                       std::int64_t otherwise);
float attribute(const onnx::NodeProto& node, const std::string& name, float otherwise);
std::string attribute(const onnx::NodeProto& node, const std::string& name,
                      const std::string& otherwise);
std::vector<std::int64_t> attribute(const onnx::NodeProto& node, const std::string& name,
                                    const std::vector<std::int64_t>& otherwise);

/// Does an attribute of the node hold a graph?
bool has_subgraph(const onnx::NodeProto& node);

}  // namespace gemm64

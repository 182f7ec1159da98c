// SPDX-License-Identifier: Apache-2.0
// Holds a model against what ONNX demands of every file.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Versions by domain; ONNX's own domain is "".
using Opsets = std::map<std::string, std::int64_t>;

/// The newest opset of ONNX's own domain, and the newest version of the file format.
inline constexpr std::int64_t kNewestOpset = 27;
inline constexpr std::int64_t kNewestFormat = 14;

/// Checks names and data, and puts the graph's nodes into an order in which they can run; operators
/// and attributes are ONNX Runtime's to check. Nodes of domain "ai.onnx" become such of "". Returns
/// the opset of each domain; of ONNX's own none where the file names none and needs none. Throws
/// UsageError, which names `file` and the node; a tensor may lack its data where `shapes_only`.
Opsets check_graph(onnx::ModelProto& model, bool shapes_only, const std::string& file);

/// The same for what a rewrite made of a checked graph, of which only names can be wrong.
Opsets order_graph(onnx::ModelProto& model, const std::string& file);

/// How often check_graph() was called, as tests count it.
std::uint64_t graphs_checked();

/// The same for a model that is to be written, which is not changed: its nodes must stand in order.
void require_valid(const onnx::ModelProto& model, const std::string& file);

}  // namespace gemm64

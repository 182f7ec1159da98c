// SPDX-License-Identifier: Apache-2.0
// A graph of ONNX Runtime's as an ONNX model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"
#include "host/ort/api.hpp"

namespace gemm64::ort {

/// Nodes that are no more than a place in the graph are of this domain: their inputs, those that
/// their bodies read included, and their outputs, and nothing else.
inline constexpr const char* kOpaqueDomain = "gemm64.opaque";

struct ReadOptions {
  /// Constants of more bytes have no data: the model is for planning.
  std::uint64_t most_constant_bytes = UINT64_MAX;
  /// Of nodes with bodies (If, Loop, Scan), or attributes that cannot be read.
  bool opaque_nodes = false;
};

struct GraphModel {
  onnx::ModelProto model;
  std::vector<const OrtNode*> nodes;  // those of the model, in its order: that of the file, where
                                      // new nodes stand before the first one that reads them
};

/// The graph, with ONNX Runtime's types of all its values. What a body of a node reads of the
/// graphs around it is an input; constants are initializers, wherever they are. Throws Error where
/// a node cannot be read and none may be opaque.
GraphModel read_graph(const Api& api, const OrtGraph& graph, const ReadOptions& options = {});

/// Names of a node's inputs or outputs; empty where one is left out.
std::vector<std::string> input_names(const Api& api, const OrtNode& node);
std::vector<std::string> output_names(const Api& api, const OrtNode& node);
std::string operator_type(const Api& api, const OrtNode& node);
std::string name_of(const Api& api, const OrtNode& node);

/// In ONNX Runtime's order, in which they can run.
std::vector<const OrtNode*> nodes_of(const Api& api, const OrtGraph& graph);
/// Has a provider claimed the node already?
bool is_assigned(const Api& api, const OrtNode& node);

/// Is it an If, a Loop or the like?
bool has_body(const Api& api, const OrtNode& node);

/// A text attribute; empty where the node has none of that name.
std::string text_attribute(const Api& api, const OrtNode& node, const std::string& name);
/// An integer attribute, or `otherwise`.
std::int64_t integer_attribute(const Api& api, const OrtNode& node, const std::string& name,
                               std::int64_t otherwise);
/// The file that the graph was read from; empty where it was none.
std::string model_path(const Api& api, const OrtGraph& graph);

}  // namespace gemm64::ort

// SPDX-License-Identifier: Apache-2.0
// Names of nodes and values that leave a function or a subgraph for the graph around it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

using Names = std::map<std::string, std::string>;
using Attributes = std::map<std::string, const onnx::AttributeProto*>;

/// Gives values names that the graph does not have.
class FreshNames {
 public:
  explicit FreshNames(const onnx::GraphProto& graph) { add(graph); }

  std::string make(const std::string& like);

 private:
  void add(const onnx::GraphProto& graph);

  std::set<std::string> taken_;
  std::size_t count_ = 0;
};

/// The new name of a value; its own where it has no other.
std::string renamed(const Names& names, const std::string& name);

/// Gives a node's values their new names, and its attributes that refer to those of a call
/// (`given`; nullptr: there is no call) their values. What a subgraph of it reads of the graph
/// around it gets its new name; what it makes itself keeps its.
void take_names(onnx::NodeProto& node, const Names& names, const Attributes* given);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What rewrites need of a graph: who reads what, and nodes taken out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Who reads each value of a graph. The graph must outlive it unchanged.
class GraphLinks {
 public:
  explicit GraphLinks(const onnx::GraphProto& graph);

  /// The node that reads a value, where it is one, which reads it once, and the value is no output.
  const onnx::NodeProto* only_reader(const std::string& value) const;
  /// The same, where the value may be an output, too.
  const onnx::NodeProto* only_node(const std::string& value) const;
  bool is_output(const std::string& value) const { return outputs_.count(value) != 0; }
  /// Does a QuantizeLinear read the value?
  bool is_quantized(const std::string& value) const;
  /// Does a QuantizeLinear read the node's output, or only a Relu or Clip that somebody reads? Then
  /// ONNX Runtime does not make the node one with a float result.
  bool is_quantized_or_clipped(const onnx::NodeProto& node) const;
  /// Who makes the value, or nullptr.
  const onnx::NodeProto* producer(const std::string& value) const;
  /// How many inputs a node has that are not left out.
  static int inputs_of(const onnx::NodeProto& node);

  /// A name that no value has, near `wish`.
  std::string new_name(const std::string& wish);
  /// Is this the first call with the value?
  bool claim(const std::string& value) { return claimed_.insert(value).second; }

 private:
  std::map<std::string, std::vector<const onnx::NodeProto*>> readers_;
  std::map<std::string, const onnx::NodeProto*> producers_;
  std::set<std::string> outputs_, names_, claimed_;
};

/// Adds the names that the graphs inside of a node read, of values around them among others.
void add_inner_reads(const onnx::NodeProto& node, std::set<std::string>& names);

void remove_attribute(onnx::NodeProto& node, const std::string& name);

/// Is the node a Relu or Clip?
bool is_clip(const onnx::NodeProto& node);

/// Takes nodes out whose readers take their first input instead.
void take_out(onnx::GraphProto& graph, const std::set<const onnx::NodeProto*>& dropped);

}  // namespace gemm64

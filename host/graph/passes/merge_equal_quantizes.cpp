// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/merge_equal_quantizes.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "host/graph/onnx/qdq_values.hpp"

namespace gemm64 {

using onnx::NodeProto;

void merge_equal_quantizes(onnx::GraphProto& graph) {
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  std::map<std::string, std::string> first;    // what one gives, by all else that it is
  std::map<std::string, std::string> instead;  // of what the others give
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      if (const auto found = instead.find(input); found != instead.end()) input = found->second;
    }
    if (is_quantize(node) && node.output_size() == 1 && outputs.count(node.output(0)) == 0) {
      NodeProto what = node;
      what.clear_name();
      what.clear_output();
      what.clear_doc_string();
      const auto [found, is_new] = first.emplace(what.SerializeAsString(), node.output(0));
      if (!is_new) {
        instead[node.output(0)] = found->second;
        continue;
      }
    }
    *nodes.Add() = std::move(node);
  }
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace gemm64

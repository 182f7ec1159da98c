// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/graph_links.hpp"

#include <algorithm>

#include "host/graph/onnx/qdq_values.hpp"

namespace gemm64 {

using onnx::NodeProto;

GraphLinks::GraphLinks(const onnx::GraphProto& graph) {
  for (const NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) readers_[name].push_back(&node);
    for (const std::string& name : node.output()) producers_[name] = &node;
    names_.insert(node.output().begin(), node.output().end());
  }
  for (const auto& value : graph.input()) names_.insert(value.name());
  for (const auto& tensor : graph.initializer()) names_.insert(tensor.name());
  for (const auto& value : graph.output()) outputs_.insert(value.name());
}

const NodeProto* GraphLinks::only_reader(const std::string& value) const {
  return is_output(value) ? nullptr : only_node(value);
}

const NodeProto* GraphLinks::only_node(const std::string& value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() || found->second.size() != 1 ? nullptr : found->second.front();
}

bool GraphLinks::is_quantized(const std::string& value) const {
  const auto found = readers_.find(value);
  return found != readers_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [](const NodeProto* reader) { return is_quantize(*reader); });
}

bool GraphLinks::is_quantized_or_clipped(const NodeProto& node) const {
  if (is_quantized(node.output(0))) return true;
  const NodeProto* reader = only_reader(node.output(0));
  return reader != nullptr && is_clip(*reader) && only_reader(reader->output(0)) != nullptr;
}

const NodeProto* GraphLinks::producer(const std::string& value) const {
  const auto found = producers_.find(value);
  return found == producers_.end() ? nullptr : found->second;
}

int GraphLinks::inputs_of(const NodeProto& node) {
  return static_cast<int>(std::count_if(node.input().begin(), node.input().end(),
                                        [](const std::string& name) { return !name.empty(); }));
}

std::string GraphLinks::new_name(const std::string& wish) {
  std::string name = wish;
  for (int i = 1; !names_.insert(name).second; ++i) name = wish + "_" + std::to_string(i);
  return name;
}

void add_inner_reads(const NodeProto& node, std::set<std::string>& names) {
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const NodeProto& inner : attribute.g().node()) {
      names.insert(inner.input().begin(), inner.input().end());
      add_inner_reads(inner, names);
    }
    for (const auto& output : attribute.g().output()) names.insert(output.name());
  }
}

void remove_attribute(NodeProto& node, const std::string& name) {
  auto& attributes = *node.mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [&](const auto& one) { return one.name() == name; }),
                   attributes.end());
}

bool is_clip(const NodeProto& node) {
  return node.domain().empty() && (node.op_type() == "Relu" || node.op_type() == "Clip");
}

void take_out(onnx::GraphProto& graph, const std::set<const NodeProto*>& dropped) {
  std::map<std::string, std::string> instead;
  for (const NodeProto& node : graph.node()) {
    if (dropped.count(&node) == 0) continue;
    const auto before = instead.find(node.input(0));
    instead[node.output(0)] = before == instead.end() ? node.input(0) : before->second;
  }
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (const NodeProto& node : graph.node()) {
    if (dropped.count(&node) != 0) continue;
    NodeProto& kept = *nodes.Add();
    kept = node;
    for (std::string& input : *kept.mutable_input()) {
      if (const auto found = instead.find(input); found != instead.end()) input = found->second;
    }
  }
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/renaming.hpp"

#include <fmt/format.h>

namespace gemm64 {

std::string FreshNames::make(const std::string& like) {
  std::string name = like;
  while (!taken_.insert(name).second) name = fmt::format("{}_{}", like, ++count_);
  return name;
}

void FreshNames::add(const onnx::GraphProto& graph) {
  for (const onnx::ValueInfoProto& input : graph.input()) taken_.insert(input.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) taken_.insert(tensor.name());
  for (const onnx::NodeProto& node : graph.node()) {
    taken_.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) add(attribute.g());
    }
  }
}

std::string renamed(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

namespace {

void take_names_inside(onnx::GraphProto& graph, const Names& names, const Attributes* given) {
  for (onnx::NodeProto& node : *graph.mutable_node()) take_names(node, names, given);
  for (onnx::ValueInfoProto& output : *graph.mutable_output()) {
    output.set_name(renamed(names, output.name()));
  }
}

}  // namespace

void take_names(onnx::NodeProto& node, const Names& names, const Attributes* given) {
  for (std::string& name : *node.mutable_input()) name = renamed(names, name);
  for (std::string& name : *node.mutable_output()) name = renamed(names, name);
  for (int i = node.attribute_size(); i-- > 0;) {
    onnx::AttributeProto& attribute = *node.mutable_attribute(i);
    if (given != nullptr && !attribute.ref_attr_name().empty()) {
      const auto found = given->find(attribute.ref_attr_name());
      if (found == given->end()) {  // left out by the caller: the operator's own default holds
        node.mutable_attribute()->DeleteSubrange(i, 1);
        continue;
      }
      const std::string name = attribute.name();
      attribute = *found->second;
      attribute.set_name(name);
    }
    if (attribute.has_g()) take_names_inside(*attribute.mutable_g(), names, given);
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/unshare.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

namespace gemm64 {

void unshare_int8(onnx::GraphProto& graph, const std::vector<const onnx::TensorProto*>& weights) {
  std::map<std::string, const onnx::TensorProto*> constants;
  std::set<std::string> names;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    names.insert(tensor.name());
    if (tensor.data_type() == onnx::TensorProto::INT8) constants.emplace(tensor.name(), &tensor);
  }
  for (const onnx::TensorProto* const weight : weights) {
    if (const auto constant = constants.find(weight->name()); constant != constants.end()) {
      constant->second = weight;
    }
  }
  for (const onnx::ValueInfoProto& value : graph.input()) names.insert(value.name());
  for (const onnx::NodeProto& node : graph.node()) {
    names.insert(node.output().begin(), node.output().end());
  }
  std::set<std::string> read;
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      const auto constant = constants.find(input);
      if (constant == constants.end() || read.insert(input).second) continue;
      std::string name;
      for (int i = 2; name.empty() || !names.insert(name).second; ++i) {
        name = fmt::format("{}.{}", constant->first, i);
      }
      onnx::TensorProto& copy = *graph.add_initializer();
      copy = *constant->second;
      copy.set_name(name);
      input = name;
    }
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) unshare_int8(*attribute.mutable_g(), {});
      for (onnx::GraphProto& body : *attribute.mutable_graphs()) unshare_int8(body, {});
    }
  }
}

}  // namespace gemm64

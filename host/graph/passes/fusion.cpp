// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fusion.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace gemm64 {

using onnx::NodeProto;

std::optional<OnnxModel> with_joined(
    const OnnxModel& model, const ImportOptions& import,
    const std::function<std::optional<Joined>(const NodeProto&)>& rule) {
  std::set<std::string> inner;  // what graphs inside of nodes read
  for (const NodeProto& node : model.graph().node()) add_inner_reads(node, inner);
  const auto is_seen = [&inner](const Joined& found) {
    return std::any_of(found.parts.begin(), found.parts.end(), [&inner](const NodeProto* part) {
      return inner.count(part->output(0)) != 0;
    });
  };
  std::map<int, Joined> joined;  // by the place of the node that it stands for
  std::set<const NodeProto*> gone;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    if (gone.count(&model.graph().node(i)) != 0) continue;
    std::optional<Joined> found = rule(model.graph().node(i));
    if (!found || is_seen(*found)) continue;
    gone.insert(found->parts.begin(), found->parts.end());
    joined[i] = *std::move(found);
  }
  if (joined.empty()) return std::nullopt;
  onnx::ModelProto proto = model.proto();
  onnx::GraphProto& graph = *proto.mutable_graph();
  google::protobuf::RepeatedPtrField<NodeProto> kept;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (gone.count(&model.graph().node(i)) != 0) continue;
    const auto found = joined.find(i);
    if (found == joined.end()) {
      kept.Add()->Swap(graph.mutable_node(i));
      continue;
    }
    for (NodeProto& node : found->second.nodes) kept.Add()->Swap(&node);
    for (onnx::TensorProto& tensor : found->second.constants) {
      graph.add_initializer()->Swap(&tensor);
    }
  }
  graph.mutable_node()->Swap(&kept);
  return model.rewritten(std::move(proto), import);
}

bool is_onnx(const NodeProto* node, const char* type) {
  return node != nullptr && node->op_type() == type &&
         (node->domain().empty() || node->domain() == "ai.onnx") && node->output_size() == 1;
}

void set_integer(NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/passes/blocked_linear.hpp"

namespace gemm64 {
namespace {

// From this version on an initializer need not be an input of the graph too.
constexpr std::int64_t kIrWithFreeInitializers = 4;

void collect_names(const onnx::GraphProto& graph, std::set<std::string>& names) {
  for (const auto& value : graph.input()) names.insert(value.name());
  for (const auto& value : graph.value_info()) names.insert(value.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const onnx::NodeProto& node : graph.node()) {
    names.insert(node.name());
    names.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_names(attribute.g(), names);
      for (const onnx::GraphProto& inner : attribute.graphs()) collect_names(inner, names);
    }
  }
}

/// A beginning for names that nothing in the model has yet; it is taken from then on.
std::string free_prefix(const std::string& layer, std::set<std::string>& names) {
  for (int attempt = 1;; ++attempt) {
    const std::string prefix =
        attempt == 1 ? layer + "/blocks/" : fmt::format("{}/blocks{}/", layer, attempt);
    const auto next = names.lower_bound(prefix);
    if (next != names.end() && next->compare(0, prefix.size(), prefix) == 0) continue;
    names.insert(prefix);
    return prefix;
  }
}

using ValueInfos = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

/// Gives the values the sizes of the import, open ones only where `open_too`. Did any change?
bool fix_sizes(const OnnxModel& model, bool open_too, ValueInfos& values) {
  bool changed = false;
  for (onnx::ValueInfoProto& value : values) {
    const std::optional<TensorType> type = model.type(value.name());
    if (!type || !value.type().has_tensor_type()) continue;
    onnx::TensorShapeProto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (static_cast<std::size_t>(shape.dim_size()) != type->dims.size()) continue;
    for (int i = 0; i < shape.dim_size(); ++i) {
      const std::int64_t size = type->dims[static_cast<std::size_t>(i)];
      onnx::TensorShapeProto::Dimension& dim = *shape.mutable_dim(i);
      if (dim.has_dim_value() ? dim.dim_value() == size : !open_too) continue;
      dim.set_dim_value(size);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

onnx::ModelProto rewrite(OnnxModel model, const RewritePlan& plan) {
  const std::int64_t opset = model.opset();
  ValueInfos inputs = model.graph().input();
  ValueInfos outputs = model.graph().output();
  bool changed = fix_sizes(model, plan.fixes_batch(), inputs);
  changed |= fix_sizes(model, plan.fixes_batch(), outputs);

  onnx::ModelProto proto = std::move(model).release();
  onnx::GraphProto& graph = *proto.mutable_graph();
  if (changed) {
    graph.mutable_input()->Swap(&inputs);
    graph.mutable_output()->Swap(&outputs);
    graph.clear_value_info();  // its sizes may be others; who loads the model infers them
  }
  if (!plan.layers.empty()) {
    proto.set_ir_version(std::max<std::int64_t>(proto.ir_version(), kIrWithFreeInitializers));
  }

  std::set<std::string> names;
  collect_names(graph, names);
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  GraphBuilder builder(graph);
  auto layer = plan.layers.begin();
  for (int i = 0; i < nodes.size(); ++i) {
    if (layer != plan.layers.end() && layer->node == i) {
      append_blocked_linear(builder, *layer, free_prefix(layer->name, names), opset);
      ++layer;
    } else {
      graph.add_node()->Swap(&nodes[i]);
    }
  }
  return proto;
}

}  // namespace gemm64

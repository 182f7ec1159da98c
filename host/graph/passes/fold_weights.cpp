// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fold_weights.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "host/graph/onnx/fold.hpp"
#include "host/graph/onnx/graph_links.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

class Folding {
 public:
  explicit Folding(const OnnxModel& model) : model_(model), links_(model.graph()) {}

  std::optional<onnx::ModelProto> run();

 private:
  const TensorProto* value(const std::string& name);
  bool compute(const NodeProto& node);

  const OnnxModel& model_;
  GraphLinks links_;
  std::map<std::string, TensorProto> computed_;  // one without a type: it could not be
};

/// A value that is the same whatever the inputs are, or nullptr where it cannot be computed here.
const TensorProto* Folding::value(const std::string& name) {
  if (const TensorProto* constant = model_.constant(name)) return constant;
  const NodeProto* maker = model_.is_constant(name) ? links_.producer(name) : nullptr;
  if (maker == nullptr) return nullptr;
  if (computed_.count(name) == 0 && !compute(*maker)) {
    for (const std::string& output : maker->output()) computed_[output];
  }
  const TensorProto& found = computed_[name];
  return found.data_type() == TensorProto::UNDEFINED ? nullptr : &found;
}

bool Folding::compute(const NodeProto& node) {
  std::vector<TensorProto> inputs;
  for (const std::string& name : node.input()) {
    const TensorProto* input = name.empty() ? nullptr : value(name);
    if (input == nullptr && !name.empty()) return false;
    inputs.push_back(input == nullptr ? TensorProto() : *input);
  }
  auto outputs = fold(node, model_.opset(), inputs);
  if (!outputs) return false;
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    computed_[node.output(static_cast<int>(i))] = std::move((*outputs)[i]);
  }
  return true;
}

/// Takes out nodes that nothing reads, from the last one on.
void eliminate_unread(onnx::GraphProto& graph, const std::set<std::string>& candidates) {
  std::set<std::string> read;
  for (const auto& output : graph.output()) read.insert(output.name());
  std::vector<NodeProto> kept;
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    NodeProto& node = *graph.mutable_node(i);
    const bool is_read =
        std::any_of(node.output().begin(), node.output().end(), [&](const std::string& name) {
          return read.count(name) != 0 || candidates.count(name) == 0;
        });
    if (!is_read) continue;
    read.insert(node.input().begin(), node.input().end());
    add_inner_reads(node, read);
    kept.push_back(std::move(node));
  }
  graph.clear_node();
  for (auto node = kept.rbegin(); node != kept.rend(); ++node) *graph.add_node() = std::move(*node);
}

std::optional<onnx::ModelProto> Folding::run() {
  std::map<std::string, std::string> folded;  // names of initializers, by value
  for (const NodeProto& node : model_.graph().node()) {
    const std::string& type = node.op_type();
    if (!node.domain().empty() || (type != "Conv" && type != "Gemm" && type != "MatMul")) continue;
    for (int i = 1; i < node.input_size(); ++i) {
      const std::string& name = node.input(i);
      if (name.empty() || model_.constant(name) != nullptr || value(name) == nullptr) continue;
      if (folded.count(name) == 0) folded[name] = links_.new_name(name + "_folded");
    }
  }
  if (folded.empty()) return std::nullopt;
  onnx::ModelProto proto = model_.proto();
  onnx::GraphProto& graph = *proto.mutable_graph();
  for (NodeProto& node : *graph.mutable_node()) {
    const std::string& type = node.op_type();
    if (!node.domain().empty() || (type != "Conv" && type != "Gemm" && type != "MatMul")) continue;
    for (int i = 1; i < node.input_size(); ++i) {
      const auto found = folded.find(node.input(i));
      if (found != folded.end()) node.set_input(i, found->second);
    }
  }
  for (const auto& [name, constant] : folded) {
    TensorProto& tensor = *graph.add_initializer();
    tensor = computed_.at(name);
    tensor.set_name(constant);
  }
  std::set<std::string> candidates;
  for (const auto& [name, tensor] : computed_) candidates.insert(name);
  eliminate_unread(graph, candidates);
  return proto;
}

}  // namespace

std::optional<onnx::ModelProto> fold_weights(const OnnxModel& model) {
  return Folding(model).run();
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/eliminate_no_ops.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

/// Decides for the nodes of one graph.
class NoOps {
 public:
  NoOps(const onnx::GraphProto& graph, const OnnxModel& model, bool for_inference)
      : model_(model), constants_(model), for_inference_(for_inference) {
    for (const NodeProto& node : graph.node()) {
      read_.insert(node.input().begin(), node.input().end());
      add_inner_reads(node, needed_);
    }
    for (const auto& output : graph.output()) needed_.insert(output.name());
    read_.insert(needed_.begin(), needed_.end());
  }

  /// Returns the input that the node's output equals, or -1.
  int kept_input(const NodeProto& node) const;
  bool is_training(const NodeProto& dropout) const;

 private:
  bool has_no_seed(const NodeProto& dropout) const;
  bool is_number(const NodeProto& node, int input, float number) const;
  bool keeps_sizes(const NodeProto& expand) const;

  const OnnxModel& model_;
  const QuantizationReader constants_;
  const bool for_inference_;
  std::set<std::string> read_, needed_;  // needed: as outputs of the graph, or in subgraphs
};

int NoOps::kept_input(const NodeProto& node) const {
  if (!node.domain().empty() || node.input_size() == 0 || node.output_size() == 0) return -1;
  if (node.output(0).empty() || needed_.count(node.output(0)) != 0) return -1;
  const std::string& type = node.op_type();
  const auto input_if = [](bool condition) { return condition ? 0 : -1; };
  if (type == "Identity") return 0;
  if (type == "Dropout") {
    const bool has_mask = node.output_size() > 1 && read_.count(node.output(1)) != 0;
    const bool drops = is_training(node) && !(for_inference_ && has_no_seed(node));
    return input_if(!has_mask && !drops);
  }
  if (type == "Expand") return input_if(keeps_sizes(node));
  if (type == "Cast") {
    const auto from = model_.type(node.input(0));
    return input_if(from && from->data_type == attribute(node, "to", std::int64_t{0}));
  }
  const bool adds = type == "Add" || type == "Sub";
  if (node.input_size() != 2 || (!adds && type != "Mul" && type != "Div")) return -1;
  const float number = adds ? 0.0F : 1.0F;
  if (is_number(node, 1, number)) return 0;
  return (type == "Add" || type == "Mul") && is_number(node, 0, number) ? 1 : -1;
}

bool NoOps::is_training(const NodeProto& dropout) const {
  if (input_name(dropout, 2).empty()) return false;
  const auto training = model_.integers(dropout.input(2));
  return !training || training->size() != 1 || training->front() != 0;
}

/// Is the Dropout's mode a constant, and its random sequence unspecified?
bool NoOps::has_no_seed(const NodeProto& dropout) const {
  return model_.integers(input_name(dropout, 2)) &&
         std::none_of(dropout.attribute().begin(), dropout.attribute().end(),
                      [](const auto& attribute) { return attribute.name() == "seed"; });
}

/// Is input `input` one constant number, and the other one a node's value of no lower rank?
bool NoOps::is_number(const NodeProto& node, int input, float number) const {
  const onnx::TensorProto* const constant = model_.constant(node.input(input));
  const auto other = model_.type(node.input(1 - input));
  if (constant == nullptr || !other || model_.constant(node.input(1 - input))) return false;
  if (constant->data_type() != onnx::TensorProto::FLOAT || constant->dims_size() > 8 ||
      static_cast<std::size_t>(constant->dims_size()) > other->dims.size()) {
    return false;
  }
  const auto values = constants_.floats(node.input(input));
  return values && values->size() == 1 && values->front() == number;
}

bool NoOps::keeps_sizes(const NodeProto& expand) const {
  const auto from = model_.type(expand.input(0));
  const auto to = model_.integers(input_name(expand, 1));
  if (!from || !to || to->empty() || to->size() > from->dims.size()) return false;
  return std::equal(
      to->rbegin(), to->rend(), from->dims.rbegin(),
      [](std::int64_t asked, std::int64_t own) { return asked == 1 || asked == own; });
}

}  // namespace

int eliminate_no_ops(onnx::GraphProto& graph, const OnnxModel& model, bool for_inference) {
  const NoOps no_ops(graph, model, for_inference);
  int in_training = 0;
  std::set<const NodeProto*> dropped;
  for (NodeProto& node : *graph.mutable_node()) {
    const int kept = no_ops.kept_input(node);
    if (kept < 0) continue;
    if (kept != 0) node.mutable_input()->SwapElements(0, kept);
    if (node.op_type() == "Dropout" && no_ops.is_training(node)) ++in_training;
    dropped.insert(&node);
  }
  take_out(graph, dropped);
  return in_training;
}

bool has_no_ops(const OnnxModel& model) {
  const NoOps no_ops(model.graph(), model, false);
  return std::any_of(model.graph().node().begin(), model.graph().node().end(),
                     [&no_ops](const NodeProto& node) { return no_ops.kept_input(node) >= 0; });
}

}  // namespace gemm64

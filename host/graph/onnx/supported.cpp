// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/supported.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/control_flow.hpp"
#include "host/graph/onnx/operator.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// Why a node cannot run, or nothing.
std::string obstacle(const onnx::NodeProto& node, const OnnxModel& model) {
  if (const std::string why = model.why_kept(node); !why.empty()) {
    return operator_name(node) + " " + why;
  }
  return find_operator(node.domain(), node.op_type()) == nullptr ? operator_name(node) : "";
}

/// Why an input is nothing that can be computed with, or nothing.
std::string why_no_input(const onnx::ValueInfoProto& input) {
  if (!input.type().has_tensor_type()) return "is not a tensor; only tensors are supported";
  const int type = input.type().tensor_type().elem_type();
  if (is_computable(type)) return "";
  return fmt::format("holds values of type {}; only numbers and bool are supported",
                     data_type_name(type));
}

}  // namespace

std::string operator_name(const onnx::NodeProto& node) {
  return printable(node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type());
}

bool is_view(const onnx::NodeProto& node) {
  const OperatorInfo* const info = find_operator(node.domain(), node.op_type());
  return info != nullptr && info->is_view;
}

std::string why_not_run(const OnnxModel& model) {
  const onnx::GraphProto& graph = model.graph();
  struct Nodes {
    int count = 0;
    std::string first;
  };
  std::map<std::string, Nodes> kinds;
  for (int i = 0; i < graph.node_size(); ++i) {
    const std::string why = obstacle(graph.node(i), model);
    if (why.empty()) continue;
    Nodes& nodes = kinds[why];
    if (nodes.count++ == 0) nodes.first = node_label(graph.node(i), i);
  }
  std::string list;
  for (const auto& [why, nodes] : kinds) {
    list += list.empty() ? "not supported: " : ", ";
    list += nodes.count == 1
                ? fmt::format("{} ({})", why, nodes.first)
                : fmt::format("{} ({} nodes, the first is {})", why, nodes.count, nodes.first);
  }
  if (!list.empty()) return list;
  if (graph.sparse_initializer_size() != 0) {
    return fmt::format("its initializer '{}' is sparse, which is not supported",
                       printable(graph.sparse_initializer(0).values().name()));
  }
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const std::string why = model.is_graph_input(input.name()) ? why_no_input(input) : "";
    if (!why.empty()) return fmt::format("its input '{}' {}", printable(input.name()), why);
  }
  return "";
}

void require_supported(const OnnxModel& model) {
  const std::string why = why_not_run(model);
  if (!why.empty()) throw UsageError(fmt::format("{}: {}", model.name(), why));
}

bool waits_for_inputs(const OnnxModel& model) {
  const auto& nodes = model.graph().node();
  const auto& inputs = model.graph().input();
  return std::any_of(nodes.begin(), nodes.end(), is_control_flow) &&
         std::all_of(nodes.begin(), nodes.end(),
                     [&model](const onnx::NodeProto& node) {
                       return is_control_flow(node) || obstacle(node, model).empty();
                     }) &&
         std::all_of(inputs.begin(), inputs.end(), [&model](const onnx::ValueInfoProto& input) {
           return !model.is_graph_input(input.name()) || why_no_input(input).empty();
         });
}

}  // namespace gemm64

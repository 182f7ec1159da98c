// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/supported.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/control_flow.hpp"
#include "host/graph/onnx/operator.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// Why a node cannot run, or nothing. Control flow that is not known before runs in ONNX Runtime.
std::string obstacle(const onnx::NodeProto& node, const OnnxModel& model) {
  const std::string why = model.why_kept(node);
  if (why.empty() || (is_control_flow(node) && why != kEndless)) return "";
  return operator_name(node) + " " + why;
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
  return list;
}

void require_supported(const OnnxModel& model) {
  const std::string why = why_not_run(model);
  if (!why.empty()) throw UsageError(fmt::format("{}: {}", model.name(), why));
}

bool waits_for_inputs(const OnnxModel& model) {
  const auto& nodes = model.graph().node();
  return std::any_of(nodes.begin(), nodes.end(), is_control_flow) && why_not_run(model).empty();
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/onnx/supported.hpp"

#include <fmt/format.h>

#include "host/onnx/operator.hpp"

namespace gemm64 {
namespace {

/// Why a node cannot run, or nothing.
std::string obstacle(const onnx::NodeProto& node, const OnnxModel& model) {
  const OperatorInfo* info = find_operator(node.domain(), node.op_type());
  if (info == nullptr || info->function == nullptr) return operator_name(node);
  if (!info->domain.empty() || model.opset() >= info->since) return "";
  return fmt::format("{} as before opset {}", info->name, info->since);
}

}  // namespace

std::string operator_name(const onnx::NodeProto& node) {
  return printable(node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type());
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
  if (list.empty() && graph.sparse_initializer_size() != 0) {
    return fmt::format("its initializer '{}' is sparse, which is not supported",
                       printable(graph.sparse_initializer(0).values().name()));
  }
  return list;
}

}  // namespace gemm64

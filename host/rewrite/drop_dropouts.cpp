// SPDX-License-Identifier: Apache-2.0
#include "host/rewrite/drop_dropouts.hpp"

#include <set>
#include <string>

#include "host/onnx/graph_links.hpp"

namespace gemm64 {

using onnx::NodeProto;

void drop_dropouts(onnx::GraphProto& graph, const OnnxModel& model) {
  std::set<std::string> read;
  for (const NodeProto& node : graph.node()) read.insert(node.input().begin(), node.input().end());
  for (const auto& output : graph.output()) read.insert(output.name());
  const auto is_training = [&](const NodeProto& node) {
    if (node.input_size() < 3 || node.input(2).empty()) return false;
    const auto training = model.integers(node.input(2));
    return !training || training->size() != 1 || training->front() != 0;
  };
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  std::set<const NodeProto*> dropped;
  for (const NodeProto& node : graph.node()) {
    if (node.op_type() != "Dropout" || !node.domain().empty() || is_training(node)) continue;
    const bool has_mask = node.output_size() > 1 && read.count(node.output(1)) != 0;
    if (!has_mask && outputs.count(node.output(0)) == 0) dropped.insert(&node);
  }
  take_out(graph, dropped);
}

}  // namespace gemm64

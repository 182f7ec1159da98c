// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/quantize_before_moves.hpp"

#include <map>
#include <set>
#include <string>

#include "host/graph/onnx/graph_links.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;

/// Operators before which ONNX Runtime quantizes; of MaxPool it knows one form.
bool moves(const NodeProto& node, std::int64_t opset) {
  static const std::set<std::string> kNames{"Reshape", "Slice", "Transpose", "Squeeze",
                                            "Unsqueeze"};
  if (!node.domain().empty() || node.output_size() != 1) return false;
  if (node.op_type() == "MaxPool") return opset >= 12 && opset < 22;
  return kNames.count(node.op_type()) != 0;
}

}  // namespace

void quantize_before_moves(onnx::GraphProto& graph, const QuantizationReader& reader,
                           std::int64_t opset) {
  GraphLinks links(graph);
  std::map<const NodeProto*, const NodeProto*> quantizes;  // by the node that they now precede
  for (const NodeProto& node : graph.node()) {
    if (!is_quantize(node) ||
        !reader.scalar(input_name(node, 1), input_name(node, 2), reader.result_type(node))) {
      continue;
    }
    const NodeProto* next = &node;
    const NodeProto* move = links.producer(node.input(0));
    bool through_output = false;  // is what `next` reads an output that is quantized now?
    while (move != nullptr && moves(*move, opset) &&
           (through_output || links.only_reader(move->output(0)) == next)) {
      const NodeProto* before = links.producer(move->input(0));
      if ((before != nullptr && is_dequantize(*before)) ||
          links.only_node(move->input(0)) != move) {
        break;
      }
      through_output = links.is_output(move->input(0));
      if (through_output && (before == nullptr || move->op_type() != "Transpose")) break;
      quantizes[move] = &node;
      next = move;
      move = before;
    }
  }
  std::map<std::string, std::string> exact;  // outputs that are quantized: what they are before
  for (const auto& [move, quantize] : quantizes) {
    const std::string& value = move->input(0);
    if (links.is_output(value)) exact[value] = links.new_name(value + "_exact");
  }
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  const auto add = [&](const NodeProto& node) {
    NodeProto& added = *nodes.Add();
    added = node;
    for (std::string& output : *added.mutable_output()) {
      if (const auto found = exact.find(output); found != exact.end()) output = found->second;
    }
    return &added;
  };
  for (const NodeProto& node : graph.node()) {
    const auto found = quantizes.find(&node);
    if (found == quantizes.end()) {
      add(node);
      continue;
    }
    const auto output = exact.find(node.input(0));
    NodeProto& quantize = *nodes.Add();
    quantize = *found->second;
    quantize.set_name(node.name() + "_quantize");
    quantize.set_input(0, output == exact.end() ? node.input(0) : output->second);
    quantize.set_output(0, links.new_name(node.input(0) + "_quantized"));
    NodeProto& dequantize = *nodes.Add();
    dequantize = quantize;
    dequantize.set_op_type("DequantizeLinear");
    dequantize.set_name(node.name() + "_dequantize");
    remove_attribute(dequantize, "saturate");
    remove_attribute(dequantize, "output_dtype");
    remove_attribute(dequantize, "precision");
    dequantize.set_input(0, quantize.output(0));
    dequantize.set_output(
        0, output == exact.end() ? links.new_name(node.input(0) + "_dequantized") : node.input(0));
    add(node)->set_input(0, dequantize.output(0));
  }
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace gemm64

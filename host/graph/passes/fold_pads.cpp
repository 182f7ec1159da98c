// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fold_pads.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using Integers = std::vector<std::int64_t>;

bool is_operator(const NodeProto& node, const char* type) {
  return node.op_type() == type && (node.domain().empty() || node.domain() == "ai.onnx");
}

/// Does a Pad add what a convolution takes for zero?
bool adds_zeros(const OnnxModel& model, const NodeProto& pad, const NodeProto& conv) {
  const std::string value = input_name(pad, 2);
  if (attribute(pad, "mode", std::string("constant")) != "constant" ||
      attribute(pad, "value", 0.0F) != 0) {
    return false;
  }
  if (is_operator(conv, "QLinearConv")) return value == input_name(conv, 2);
  if (value.empty()) return true;
  const onnx::TensorProto* const constant = model.constant(value);
  const auto added = constant == nullptr ? std::nullopt : float_values(*constant, 1);
  return added && added->size() == 1 && added->front() == 0;
}

/// What a Pad adds at the begin of each axis, then at the end of each; nothing where that is not
/// known.
std::optional<Integers> widths(const OnnxModel& model, const NodeProto& pad, std::size_t rank) {
  const auto given =
      pad.input_size() > 1 ? model.integers(pad.input(1)) : attribute(pad, "pads", Integers{});
  if (!given) return std::nullopt;
  Integers axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
  if (!input_name(pad, 3).empty()) {
    const auto named = model.integers(pad.input(3));
    if (!named) return std::nullopt;
    axes = *named;
  }
  if (given->size() != 2 * axes.size()) return std::nullopt;
  Integers all(2 * rank);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i];
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    all[static_cast<std::size_t>(axis)] = (*given)[i];
    all[rank + static_cast<std::size_t>(axis)] = (*given)[axes.size() + i];
  }
  return all;
}

/// The convolution's pads with those of the Pad before it; nothing where it cannot take them.
std::optional<Integers> joined(const OnnxModel& model, const NodeProto& pad,
                               const NodeProto& conv) {
  const auto type = model.type(pad.input(0));
  if (!type || type->dims.size() < 3 || !adds_zeros(model, pad, conv)) return std::nullopt;
  if (attribute(conv, "auto_pad", std::string("NOTSET")) != "NOTSET") return std::nullopt;
  const std::size_t rank = type->dims.size(), spatial = rank - 2;
  const auto added = widths(model, pad, rank);
  if (!added || std::any_of(added->begin(), added->end(), [](auto width) { return width < 0; })) {
    return std::nullopt;
  }
  if ((*added)[0] != 0 || (*added)[1] != 0 || (*added)[rank] != 0 || (*added)[rank + 1] != 0) {
    return std::nullopt;
  }
  Integers pads = attribute(conv, "pads", Integers(2 * spatial, 0));
  if (pads.size() != 2 * spatial) return std::nullopt;
  for (std::size_t i = 0; i < spatial; ++i) {
    pads[i] += (*added)[2 + i];
    pads[spatial + i] += (*added)[rank + 2 + i];
  }
  return pads;
}

/// Takes out nodes, from the last to the first, whose results no node reads any more, of those that
/// `unread` comes from.
void take_out_unread(onnx::GraphProto& graph, std::set<std::string> unread) {
  std::map<std::string, int> readers;
  for (const NodeProto& node : graph.node()) {
    std::set<std::string> names(node.input().begin(), node.input().end());
    add_inner_reads(node, names);
    for (const std::string& name : names) ++readers[name];
  }
  for (const auto& output : graph.output()) ++readers[output.name()];
  google::protobuf::RepeatedPtrField<NodeProto> kept;
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    NodeProto& node = *graph.mutable_node(i);
    const bool is_unread =
        std::all_of(node.output().begin(), node.output().end(), [&](const std::string& name) {
          return name.empty() || (unread.count(name) != 0 && readers[name] == 0);
        });
    if (!is_unread) {
      kept.Add()->Swap(&node);
      continue;
    }
    std::set<std::string> names(node.input().begin(), node.input().end());
    add_inner_reads(node, names);
    for (const std::string& name : names) {
      --readers[name];
      unread.insert(name);
    }
  }
  std::reverse(kept.begin(), kept.end());
  graph.mutable_node()->Swap(&kept);
}

}  // namespace

OnnxModel fold_pads(OnnxModel model, const ImportOptions& import) {
  const GraphLinks links(model.graph());
  std::map<int, Integers> folded;  // the pads of each convolution that takes some
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const NodeProto& conv = model.graph().node(i);
    if (!is_operator(conv, "Conv") && !is_operator(conv, "QLinearConv")) continue;
    const NodeProto* const pad = links.producer(conv.input(0));
    if (pad == nullptr || !is_operator(*pad, "Pad") ||
        links.only_reader(pad->output(0)) == nullptr) {
      continue;
    }
    if (auto pads = joined(model, *pad, conv)) folded[i] = *std::move(pads);
  }
  if (folded.empty()) return model;  // as it is: its weights may be large
  onnx::ModelProto proto = model.proto();
  onnx::GraphProto& graph = *proto.mutable_graph();
  std::set<std::string> unread;
  for (const auto& [index, pads] : folded) {
    NodeProto& conv = *graph.mutable_node(index);
    remove_attribute(conv, "pads");
    onnx::AttributeProto& attribute = *conv.add_attribute();
    attribute.set_name("pads");
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t width : pads) attribute.add_ints(width);
    unread.insert(conv.input(0));
    conv.set_input(0, links.producer(conv.input(0))->input(0));
  }
  take_out_unread(graph, std::move(unread));
  return model.rewritten(std::move(proto), import);
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/onnx/qdq_edits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace gemm64 {
namespace {

using onnx::NodeProto;

bool is_clip(const NodeProto& node) {
  return node.domain().empty() && (node.op_type() == "Relu" || node.op_type() == "Clip");
}

/// Operators before which ONNX Runtime quantizes; of MaxPool it knows one form.
bool moves(const NodeProto& node, std::int64_t opset) {
  static const std::set<std::string> kNames{"Reshape", "Slice", "Transpose", "Squeeze",
                                            "Unsqueeze"};
  if (!node.domain().empty() || node.output_size() != 1) return false;
  if (node.op_type() == "MaxPool") return opset >= 12 && opset < 22;
  return kNames.count(node.op_type()) != 0;
}

/// The bounds of a Clip, where they are constant.
std::optional<std::pair<float, float>> bounds(const NodeProto& clip,
                                              const QuantizationReader& reader) {
  constexpr float kMost = std::numeric_limits<float>::max();
  std::pair<float, float> result{attribute(clip, "min", -kMost), attribute(clip, "max", kMost)};
  for (int i = 1; i < 3; ++i) {
    if (input_name(clip, i).empty()) continue;
    const auto value = reader.floats(clip.input(i));
    if (!value || value->size() != 1) return std::nullopt;
    (i == 1 ? result.first : result.second) = value->front();
  }
  return result;
}

bool is_redundant(const NodeProto& clip, const NodeProto& quantize,
                  const QuantizationReader& reader) {
  const int type = reader.result_type(quantize);
  if (type != onnx::TensorProto::INT8 && type != onnx::TensorProto::UINT8) return false;
  const auto to = reader.scalar(input_name(quantize, 1), input_name(quantize, 2), type);
  if (!to) return false;
  const auto [low, high] = QuantizationReader::range(type);
  if (clip.op_type() == "Relu") return to->zero == low;
  const auto limits = bounds(clip, reader);
  if (!limits) return false;
  // Either rule of ONNX Runtime's: the bounds reach as far as the range does, or round to its ends.
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  const auto zero = static_cast<float>(to->zero);
  const float from = to->scale * (static_cast<float>(low) - zero);
  const float until = to->scale * (static_cast<float>(high) - zero);
  if (limits->first - from <= kEpsilon && until - limits->second <= kEpsilon) return true;
  return std::nearbyint(limits->first / to->scale) + zero <= static_cast<float>(low) &&
         std::nearbyint(limits->second / to->scale) + zero >= static_cast<float>(high);
}

}  // namespace

GraphLinks::GraphLinks(const onnx::GraphProto& graph) {
  for (const NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) readers_[name].push_back(&node);
    for (const std::string& name : node.output()) producers_[name] = &node;
    names_.insert(node.output().begin(), node.output().end());
  }
  for (const auto& value : graph.input()) names_.insert(value.name());
  for (const auto& tensor : graph.initializer()) names_.insert(tensor.name());
  for (const auto& value : graph.output()) outputs_.insert(value.name());
}

const NodeProto* GraphLinks::only_reader(const std::string& value) const {
  return is_output(value) ? nullptr : only_node(value);
}

const NodeProto* GraphLinks::only_node(const std::string& value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() || found->second.size() != 1 ? nullptr : found->second.front();
}

bool GraphLinks::is_quantized(const std::string& value) const {
  const auto found = readers_.find(value);
  return found != readers_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [](const NodeProto* reader) { return is_quantize(*reader); });
}

bool GraphLinks::is_quantized_or_clipped(const NodeProto& node) const {
  if (is_quantized(node.output(0))) return true;
  const NodeProto* reader = only_reader(node.output(0));
  return reader != nullptr && is_clip(*reader) && only_reader(reader->output(0)) != nullptr;
}

const NodeProto* GraphLinks::producer(const std::string& value) const {
  const auto found = producers_.find(value);
  return found == producers_.end() ? nullptr : found->second;
}

int GraphLinks::inputs_of(const NodeProto& node) {
  return static_cast<int>(std::count_if(node.input().begin(), node.input().end(),
                                        [](const std::string& name) { return !name.empty(); }));
}

std::string GraphLinks::new_name(const std::string& wish) {
  std::string name = wish;
  for (int i = 1; !names_.insert(name).second; ++i) name = wish + "_" + std::to_string(i);
  return name;
}

void add_inner_reads(const NodeProto& node, std::set<std::string>& names) {
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const NodeProto& inner : attribute.g().node()) {
      names.insert(inner.input().begin(), inner.input().end());
      add_inner_reads(inner, names);
    }
    for (const auto& output : attribute.g().output()) names.insert(output.name());
  }
}

void remove_attribute(NodeProto& node, const std::string& name) {
  auto& attributes = *node.mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [&](const auto& one) { return one.name() == name; }),
                   attributes.end());
}

namespace {

/// Takes nodes out whose readers take their first input instead.
void take_out(onnx::GraphProto& graph, const std::set<const NodeProto*>& dropped) {
  std::map<std::string, std::string> instead;
  for (const NodeProto& node : graph.node()) {
    if (dropped.count(&node) == 0) continue;
    const auto before = instead.find(node.input(0));
    instead[node.output(0)] = before == instead.end() ? node.input(0) : before->second;
  }
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (const NodeProto& node : graph.node()) {
    if (dropped.count(&node) != 0) continue;
    NodeProto& kept = *nodes.Add();
    kept = node;
    for (std::string& input : *kept.mutable_input()) {
      if (const auto found = instead.find(input); found != instead.end()) input = found->second;
    }
  }
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace

void drop_redundant_clips(onnx::GraphProto& graph, const QuantizationReader& reader) {
  const GraphLinks links(graph);
  std::set<const NodeProto*> dropped;
  for (const NodeProto& node : graph.node()) {
    if (!is_clip(node)) continue;
    const NodeProto* quantize = links.only_reader(node.output(0));
    if (quantize == nullptr || !is_quantize(*quantize) || !is_redundant(node, *quantize, reader)) {
      continue;
    }
    dropped.insert(&node);
  }
  take_out(graph, dropped);
}

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

void join_equal_quantizes(onnx::GraphProto& graph) {
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  std::map<std::string, std::string> first;    // what one gives, by all else that it is
  std::map<std::string, std::string> instead;  // of what the others give
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      if (const auto found = instead.find(input); found != instead.end()) input = found->second;
    }
    if (is_quantize(node) && node.output_size() == 1 && outputs.count(node.output(0)) == 0) {
      NodeProto what = node;
      what.clear_name();
      what.clear_output();
      what.clear_doc_string();
      const auto [found, is_new] = first.emplace(what.SerializeAsString(), node.output(0));
      if (!is_new) {
        instead[node.output(0)] = found->second;
        continue;
      }
    }
    *nodes.Add() = std::move(node);
  }
  graph.mutable_node()->Swap(&nodes);
}

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

// SPDX-License-Identifier: Apache-2.0
#include "host/rewrite/split_to_slices.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/onnx/graph_links.hpp"
#include "host/onnx/qdq_values.hpp"
#include "host/proto/attribute.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

constexpr std::int64_t kSliceWithInputs = 10;  // the first opset that has it

/// Sizes of a Split's outputs along its axis; nothing where one is not known, or has no name.
std::optional<std::vector<std::int64_t>> sizes_of(const OnnxModel& model, const NodeProto& split,
                                                  std::int64_t& axis) {
  const auto from = model.type(split.input(0));
  if (!from) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(from->dims.size());
  axis = attribute(split, "axis", std::int64_t{0});
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  std::vector<std::int64_t> sizes;
  std::int64_t sum = 0;
  for (const std::string& output : split.output()) {
    const auto type = model.type(output);
    if (!type || type->dims.size() != from->dims.size()) return std::nullopt;
    sizes.push_back(type->dims[static_cast<std::size_t>(axis)]);
    sum += sizes.back();
  }
  if (sum != from->dims[static_cast<std::size_t>(axis)]) return std::nullopt;
  return sizes;
}

bool is_quantized(const OnnxModel& model, const GraphLinks& links, const std::string& value) {
  const NodeProto* const maker = links.producer(value);
  if (maker != nullptr && is_dequantize(*maker)) return true;
  const auto type = model.type(value);
  return type && (type->data_type == TensorProto::INT8 || type->data_type == TensorProto::UINT8);
}

}  // namespace

void split_to_slices(onnx::GraphProto& graph, const OnnxModel& model) {
  if (model.opset() < kSliceWithInputs) return;
  GraphLinks links(graph);
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (const NodeProto& node : graph.node()) {
    std::int64_t axis = 0;
    const bool is_split = node.op_type() == "Split" && node.domain().empty() &&
                          is_quantized(model, links, node.input(0));
    const auto sizes = is_split ? sizes_of(model, node, axis) : std::nullopt;
    if (!sizes) {
      *nodes.Add() = node;
      continue;
    }
    std::int64_t begin = 0;
    for (int i = 0; i < node.output_size(); ++i) {
      const std::int64_t end = begin + (*sizes)[static_cast<std::size_t>(i)];
      NodeProto& slice = *nodes.Add();
      slice.set_name(links.new_name(node.output(i) + "_slice"));
      slice.set_op_type("Slice");
      slice.add_input(node.input(0));
      for (const std::int64_t bound : {begin, end, axis}) {
        TensorProto& constant = *graph.add_initializer();
        constant.set_name(links.new_name(node.output(i) + "_bound"));
        constant.set_data_type(TensorProto::INT64);
        constant.add_dims(1);
        constant.add_int64_data(bound);
        slice.add_input(constant.name());
      }
      slice.add_output(node.output(i));
      begin = end;
    }
  }
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace gemm64

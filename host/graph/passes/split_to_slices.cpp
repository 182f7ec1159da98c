// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/split_to_slices.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/proto/attribute.hpp"

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

/// Does a Split move integers? Those of 8 bits, or floats that come of a DequantizeLinear if all of
/// its outputs are quantized again, and alike: else ONNX Runtime leaves it in float, and all after
/// it.
bool moves_integers(const NodeProto& split, const OnnxModel& model, const GraphLinks& links,
                    const QuantizationReader& reader) {
  const auto type = model.type(split.input(0));
  if (type && (type->data_type == TensorProto::INT8 || type->data_type == TensorProto::UINT8)) {
    return true;
  }
  const NodeProto* const maker = links.producer(split.input(0));
  if (maker == nullptr || !is_dequantize(*maker)) return false;
  const Dequantized value = reader.read(*maker);
  return std::all_of(split.output().begin(), split.output().end(), [&](const auto& name) {
    const NodeProto* const quantize = links.only_reader(name);
    return quantize != nullptr && is_quantize(*quantize) && quantize->input(0) == name &&
           reader.same_scale(value, *quantize);
  });
}

}  // namespace

void split_to_slices(onnx::GraphProto& graph, const OnnxModel& model,
                     const QuantizationReader& reader) {
  if (model.opset() < kSliceWithInputs) return;
  GraphLinks links(graph);
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (const NodeProto& node : graph.node()) {
    std::int64_t axis = 0;
    const bool is_split = node.op_type() == "Split" && node.domain().empty() &&
                          moves_integers(node, model, links, reader);
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

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_transpose_into_weights.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/onnx/fold.hpp"
#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

/// Returns a constant of 8 bits, or what a QuantizeLinear makes of constants; nothing if it is
/// neither.
std::optional<TensorProto> bytes_of(const std::string& name, const GraphLinks& links,
                                    const OnnxModel& model) {
  std::optional<TensorProto> found;
  const NodeProto* const maker = links.producer(name);
  if (const TensorProto* const constant = model.constant(name)) {
    found = *constant;
  } else if (maker != nullptr && is_quantize(*maker)) {
    std::vector<TensorProto> inputs;
    for (const std::string& input : maker->input()) {
      const TensorProto* const known = model.constant(input);
      if (known == nullptr || !has_data(*known)) return std::nullopt;
      inputs.push_back(*known);
    }
    if (auto folded = fold(*maker, model.opset(), inputs)) found = std::move(folded->front());
  }
  const bool bytes = found && (found->data_type() == TensorProto::INT8 ||
                               found->data_type() == TensorProto::UINT8);
  return bytes ? found : std::nullopt;
}

/// Returns the DequantizeLinear whose output `node` transposes, by constants, or nullptr.
const NodeProto* transposed_values(const NodeProto& node, const GraphLinks& links,
                                   const OnnxModel& model) {
  if (!node.domain().empty() || node.op_type() != "Transpose" || node.input_size() != 1 ||
      node.output_size() != 1) {
    return nullptr;
  }
  const NodeProto* const maker = links.producer(node.input(0));
  if (maker == nullptr || !is_dequantize(*maker)) return nullptr;
  const bool known =
      std::all_of(maker->input().begin() + 1, maker->input().end(),
                  [&model](const std::string& name) { return model.constant(name) != nullptr; });
  return known && attribute(*maker, "block_size", std::int64_t{0}) == 0 ? maker : nullptr;
}

/// Returns the axis of the input that each axis of the output was.
std::vector<std::int64_t> axes_of(const NodeProto& transpose, std::int64_t rank) {
  std::vector<std::int64_t> reversed;
  for (std::int64_t i = rank; i-- > 0;) reversed.push_back(i);
  return attribute(transpose, "perm", reversed);
}

/// Does ONNX Runtime 1.31 on x86-64 move int8 weights that have no zero point? A Gemm takes the
/// Transpose over as an attribute, and one that keeps the order of the values is a Reshape.
bool moves_without_zero(const NodeProto& transpose, const TensorProto& tensor,
                        const GraphLinks& links) {
  const NodeProto* const reader = links.only_reader(transpose.output(0));
  if (reader != nullptr && reader->op_type() == "Gemm") return true;
  std::vector<std::int64_t> order;
  for (const std::int64_t axis : axes_of(transpose, tensor.dims_size())) {
    if (axis < 0 || axis >= tensor.dims_size()) return false;
    if (tensor.dims(static_cast<int>(axis)) != 1) order.push_back(axis);
  }
  return std::is_sorted(order.begin(), order.end());
}

/// Returns the transposed tensor; of a tensor without data, its shape. Nothing if `perm` is
/// invalid.
std::optional<TensorProto> transposed(const NodeProto& transpose, std::int64_t opset,
                                      const TensorProto& tensor) {
  if (has_data(tensor)) {
    auto folded = fold(transpose, opset, {tensor});
    return folded ? std::optional<TensorProto>(std::move(folded->front())) : std::nullopt;
  }
  TensorProto shape;
  shape.set_data_type(tensor.data_type());
  for (const std::int64_t axis : axes_of(transpose, tensor.dims_size())) {
    if (axis < 0 || axis >= tensor.dims_size()) return std::nullopt;
    shape.add_dims(tensor.dims(static_cast<int>(axis)));
  }
  return shape;
}

}  // namespace

std::optional<onnx::ModelProto> fuse_transposes_into_weights(const OnnxModel& model) {
  GraphLinks links(model.graph());
  std::map<int, std::pair<NodeProto, TensorProto>> fused;  // by the index of the Transpose
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const NodeProto& node = model.graph().node(i);
    const NodeProto* const maker = transposed_values(node, links, model);
    const auto stored = maker == nullptr ? std::nullopt : bytes_of(maker->input(0), links, model);
    const bool moves =
        stored && (stored->data_type() == TensorProto::UINT8 || !input_name(*maker, 2).empty() ||
                   moves_without_zero(node, *stored, links));
    auto weights = moves ? transposed(node, model.opset(), *stored) : std::nullopt;
    if (!weights) continue;
    weights->set_name(links.new_name(maker->input(0) + "_transposed"));
    NodeProto dequantize = *maker;
    dequantize.set_name(node.name());
    dequantize.set_input(0, weights->name());
    dequantize.set_output(0, node.output(0));
    const std::int64_t rank = weights->dims_size();
    const std::int64_t axis = attribute(*maker, "axis", std::int64_t{1});
    const std::vector<std::int64_t> axes = axes_of(node, rank);
    const auto moved = std::find(axes.begin(), axes.end(), axis < 0 ? axis + rank : axis);
    remove_attribute(dequantize, "axis");  // of a scale for all values none is needed
    if (moved != axes.end()) set_attribute(dequantize, "axis", std::int64_t{moved - axes.begin()});
    fused.emplace(i, std::pair(std::move(dequantize), *std::move(weights)));
  }
  if (fused.empty()) return std::nullopt;
  onnx::ModelProto proto = model.proto();
  for (auto& [index, made] : fused) {
    *proto.mutable_graph()->mutable_node(index) = std::move(made.first);
    *proto.mutable_graph()->add_initializer() = std::move(made.second);
  }
  return proto;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/rewrite/fuse_transpose_into_weights.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/onnx/builder.hpp"
#include "host/onnx/fold.hpp"
#include "host/onnx/graph_links.hpp"
#include "host/onnx/qdq_values.hpp"
#include "host/proto/attribute.hpp"
#include "host/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

/// Returns the DequantizeLinear of constants that `node` transposes, or nullptr.
const NodeProto* transposed_weights(const NodeProto& node, const GraphLinks& links,
                                    const OnnxModel& model) {
  if (!node.domain().empty() || node.op_type() != "Transpose" || node.input_size() != 1 ||
      node.output_size() != 1) {
    return nullptr;
  }
  const NodeProto* const maker = links.producer(node.input(0));
  if (maker == nullptr || !is_dequantize(*maker) || maker->input_size() != 3) return nullptr;
  const auto is_known = [&model](const std::string& name) { return model.constant(name); };
  if (!std::all_of(maker->input().begin(), maker->input().end(), is_known)) return nullptr;
  const TensorProto& weights = *model.constant(maker->input(0));
  const bool bytes =
      weights.data_type() == TensorProto::INT8 || weights.data_type() == TensorProto::UINT8;
  return bytes && attribute(*maker, "block_size", std::int64_t{0}) == 0 ? maker : nullptr;
}

/// Returns the axis of the input that each axis of the output was.
std::vector<std::int64_t> axes_of(const NodeProto& transpose, std::int64_t rank) {
  std::vector<std::int64_t> reversed;
  for (std::int64_t i = rank; i-- > 0;) reversed.push_back(i);
  return attribute(transpose, "perm", reversed);
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
    const NodeProto* const maker = transposed_weights(node, links, model);
    if (maker == nullptr) continue;
    auto weights = transposed(node, model.opset(), *model.constant(maker->input(0)));
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

// SPDX-License-Identifier: Apache-2.0
#include "host/compile/layer_buffers.hpp"

#include <fmt/format.h>

#include "host/graph/onnx/supported.hpp"

namespace gemm64 {
namespace {

TensorType type_of(const OnnxModel& model, const std::string& value) {
  return value.empty() ? TensorType() : *model.type(value);
}

Tensor without_values(const TensorType& type) {
  return {static_cast<DataType>(type.data_type), {0}};
}

/// The operands of a layer's node; of those that the network computes only the types.
Tensors operands_of(const OnnxModel& model, const DeviceLayer& layer, const NodeContext& context,
                    const NamedBuffers& known) {
  const onnx::NodeProto& node = *context.node;
  if (layer.has_no_constants()) return {without_values(type_of(model, layer.input_value))};
  Tensors operands;
  for (int i = 0; i < node.input_size(); ++i) {
    const std::string& name = node.input(i);
    if (name.empty()) {
      operands.emplace_back();
    } else if (i == 0 || name == layer.weights_value) {
      operands.push_back(without_values(type_of(model, name)));
    } else if (known.count(name) != 0) {
      operands.push_back(known.at(name));
    } else if (const onnx::TensorProto* const constant = model.constant(name)) {
      operands.push_back(Tensor::from_proto(*constant));
    } else {
      throw failure(context, fmt::format("its input '{}' has no value", printable(name)));
    }
  }
  return operands;
}

}  // namespace

std::vector<LayerBuffers> layer_buffers(const OnnxModel& model, const DeviceProgram& program,
                                        const NamedBuffers& computed) {
  std::vector<LayerBuffers> all;
  for (const DeviceLayer& layer : program.layers) {
    LayerBuffers& made = all.emplace_back();
    const onnx::NodeProto& node = model.graph().node(layer.node);
    const NodeContext context{
        &node, fmt::format("{} ({})", node_label(node, layer.node), operator_name(node)),
        model.opset()};
    made.input = type_of(model, layer.input_value);
    made.weights = type_of(model, layer.weights_value);
    made.operand = type_of(model, layer.second);
    if (const onnx::TensorProto* const constant = model.constant(layer.second)) {
      made.operand_rows = operand_rows(layer, Tensor::from_proto(*constant));
    }
    made.result_name = model.graph().node(layer.gives()).output(0);
    made.result = type_of(model, made.result_name);
    for (const int index : layer.nodes()) {
      for (const std::string& name : model.graph().node(index).input()) {
        const auto found = computed.find(name);
        if (found != computed.end() && model.is_constant(name)) made.known.insert(*found);
      }
    }
    made.constants = layer_weights(layer, context, operands_of(model, layer, context, made.known));
  }
  return all;
}

}  // namespace gemm64

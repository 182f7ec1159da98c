// SPDX-License-Identifier: Apache-2.0
#include "host/compile/layer_buffers.hpp"

#include <fmt/format.h>

#include "host/graph/onnx/host_nodes.hpp"
#include "host/graph/onnx/supported.hpp"

namespace gemm64 {
namespace {

TensorType type_of(const OnnxModel& model, const std::string& value) {
  return value.empty() ? TensorType() : *model.type(value);
}

Tensor without_values(const TensorType& type) {
  return {static_cast<DataType>(type.data_type), {0}};
}

NodeContext context_of(const OnnxModel& model, int index) {
  const onnx::NodeProto& node = model.graph().node(index);
  return {&node, fmt::format("{} ({})", node_label(node, index), operator_name(node)),
          model.opset()};
}

/// The values of a network that do not depend on its inputs.
class Constants {
 public:
  explicit Constants(const OnnxModel& model) : nodes_(model) {}

  /// Does a node compute it, from constants only?
  bool is_computed(const std::string& name) const {
    return nodes_.model().is_constant(name) && nodes_.model().constant(name) == nullptr;
  }

  Tensor value(const NodeContext& reader, const std::string& name) {
    if (name.empty()) return {};
    if (!nodes_.model().is_constant(name)) {
      throw failure(reader, fmt::format("its input '{}' has no value", printable(name)));
    }
    Tensor& value = values_[name];
    if (!value.present()) value = nodes_.values({name}, {}).at(name);
    return value;
  }

 private:
  const HostNodes nodes_;
  NamedBuffers values_;
};

/// The operands of a layer's node; of those that the network computes only the types.
Tensors operands_of(const OnnxModel& model, const DeviceLayer& layer, const NodeContext& context,
                    Constants& constants) {
  const onnx::NodeProto& node = *context.node;
  if (layer.has_no_constants()) return {without_values(type_of(model, layer.input_value))};
  Tensors operands;
  for (int i = 0; i < node.input_size(); ++i) {
    const std::string& name = node.input(i);
    const bool is_given = i == 0 || (!name.empty() && name == layer.weights_value);
    operands.push_back(is_given ? without_values(type_of(model, name))
                                : constants.value(context, name));
  }
  return operands;
}

}  // namespace

std::vector<LayerBuffers> layer_buffers(const OnnxModel& model, const DeviceProgram& program) {
  Constants constants(model);
  std::vector<LayerBuffers> all;
  for (const DeviceLayer& layer : program.layers) {
    LayerBuffers& made = all.emplace_back();
    const NodeContext context = context_of(model, layer.node);
    made.input = type_of(model, layer.input_value);
    made.weights = type_of(model, layer.weights_value);
    made.operand = type_of(model, layer.second);
    if (!layer.second.empty() && model.is_constant(layer.second)) {
      made.operand_rows = operand_rows(layer, constants.value(context, layer.second));
    }
    made.result_name = model.graph().node(layer.gives()).output(0);
    made.result = type_of(model, made.result_name);
    for (const std::string* const name : {&layer.input_value, &layer.weights_value}) {
      if (name->empty() || !model.is_constant(*name)) continue;
      made.known[*name] = constants.value(context, *name);
    }
    for (const int index : layer.nodes()) {
      for (const std::string& name : model.graph().node(index).input()) {
        if (!constants.is_computed(name)) continue;
        made.known[name] = constants.value(context_of(model, index), name);
      }
    }
    made.constants = layer_weights(layer, context, operands_of(model, layer, context, constants));
  }
  return all;
}

}  // namespace gemm64

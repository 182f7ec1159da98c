// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/quantize_float_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/onnx/fold.hpp"
#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

TensorProto float_tensor(const std::vector<float>& values, bool scalar) {
  TensorProto tensor;
  tensor.set_data_type(TensorProto::FLOAT);
  if (!scalar) tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const float value : values) tensor.add_float_data(value);
  return tensor;
}

NodeProto dequantize(const std::vector<std::string>& inputs, const std::string& output) {
  NodeProto node;
  node.set_op_type("DequantizeLinear");
  node.set_name(output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

/// The nodes of one graph.
class WeightQuantization {
 public:
  WeightQuantization(onnx::GraphProto& graph, const OnnxModel& model,
                     const QuantizationReader& reader)
      : graph_(graph), model_(model), reader_(reader), links_(graph) {}

  void run();

 private:
  /// Constants of a node, as int8 or int32.
  struct Scales {
    std::vector<float> values;
    bool scalar = true;
  };

  bool leads_to_quantize(const NodeProto& node) const;
  void change(NodeProto& node);
  std::optional<Scales> scales_of(const NodeProto& node, const NodeProto& weights,
                                  std::size_t channels) const;
  std::optional<Scales> quantize_weights(NodeProto& node, const TensorProto& weights);
  void quantize_bias(NodeProto& node, const std::vector<float>& bias, float x_scale,
                     const Scales& weights);
  std::string add(TensorProto tensor, const std::string& name);

  onnx::GraphProto& graph_;
  const OnnxModel& model_;
  const QuantizationReader& reader_;
  GraphLinks links_;
  google::protobuf::RepeatedPtrField<NodeProto> nodes_;
};

/// Is the node's output quantized, perhaps after some Relu and Clip, and nothing else reads it?
bool WeightQuantization::leads_to_quantize(const NodeProto& node) const {
  const NodeProto* reader = &node;
  do {
    if (reader->output_size() != 1) return false;
    reader = links_.only_node(reader->output(0));
  } while (reader != nullptr && is_clip(*reader));
  return reader != nullptr && is_quantize(*reader);
}

std::string WeightQuantization::add(TensorProto tensor, const std::string& name) {
  tensor.set_name(links_.new_name(name));
  graph_.add_initializer()->Swap(&tensor);
  return graph_.initializer(graph_.initializer_size() - 1).name();
}

/// Returns the scales of quantized weights: one, or one for each output channel.
std::optional<WeightQuantization::Scales> WeightQuantization::scales_of(
    const NodeProto& node, const NodeProto& weights, std::size_t channels) const {
  const Dequantized of = reader_.read(weights);
  const auto scales = reader_.floats(of.scale);
  if (!scales || of.in_blocks) return std::nullopt;
  if (reader_.is_scalar(of.scale)) return Scales{*scales, true};
  const auto type = model_.type(of.values);
  if (!type || scales->size() != channels) return std::nullopt;
  std::int64_t expected = node.op_type() == "ConvTranspose" ? 1 : 0;
  if (node.op_type() == "Gemm") expected = attribute(node, "transB", std::int64_t{0}) == 0 ? 1 : 0;
  const auto rank = static_cast<std::int64_t>(type->dims.size());
  const std::int64_t axis = of.axis < 0 ? of.axis + rank : of.axis;
  return axis == expected ? std::optional<Scales>(Scales{*scales, false}) : std::nullopt;
}

/// One scale for all weights, from the least to the largest one, and 0 among them.
std::optional<WeightQuantization::Scales> WeightQuantization::quantize_weights(
    NodeProto& node, const TensorProto& weights) {
  const auto values = float_values(weights, std::numeric_limits<std::int64_t>::max());
  if (!values || values->empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(values->begin(), values->end());
  const float low = std::min(*least, 0.0F), high = std::max(*most, 0.0F);
  if (!std::isfinite(low) || !std::isfinite(high)) return std::nullopt;
  constexpr float kLow = -128, kHigh = 127;
  const float scale = high == low ? 1.0F : (high - low) / (kHigh - kLow);
  TensorProto zero;
  zero.set_data_type(TensorProto::INT8);
  zero.add_int32_data(
      static_cast<std::int32_t>(std::nearbyint(std::clamp(kLow - low / scale, kLow, kHigh))));
  const TensorProto scale_tensor = float_tensor({scale}, true);
  NodeProto quantize;
  quantize.set_op_type("QuantizeLinear");
  for (int i = 0; i < 3; ++i) quantize.add_input("input");
  quantize.add_output("output");
  auto integers = fold(quantize, model_.opset(), {weights, scale_tensor, zero});
  if (!integers) return std::nullopt;
  const std::string name = node.input(1);
  const std::vector<std::string> inputs{add(std::move(integers->front()), name + "_quantized"),
                                        add(scale_tensor, name + "_scale"),
                                        add(zero, name + "_zero_point")};
  node.set_input(1, links_.new_name(name + "_dequantized"));
  *nodes_.Add() = dequantize(inputs, node.input(1));
  return Scales{{scale}, true};
}

/// In steps of x's scale times the weights'.
void WeightQuantization::quantize_bias(NodeProto& node, const std::vector<float>& bias,
                                       float x_scale, const Scales& weights) {
  Scales scales = weights;
  for (float& scale : scales.values) scale = x_scale * scale;
  TensorProto integers;
  integers.set_data_type(TensorProto::INT32);
  integers.add_dims(static_cast<std::int64_t>(bias.size()));
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const float steps = std::nearbyint(bias[i] / scales.values[scales.scalar ? 0 : i]);
    // What x86-64 makes of a float beyond the range of int32.
    const bool fits = std::abs(steps) < 2147483648.0F;
    integers.add_int32_data(fits ? static_cast<std::int32_t>(steps)
                                 : std::numeric_limits<std::int32_t>::min());
  }
  const std::string name = node.input(2);
  const std::vector<std::string> inputs{
      add(std::move(integers), name + "_quantized"),
      add(float_tensor(scales.values, scales.scalar), name + "_scale")};
  node.set_input(2, links_.new_name(name + "_dequantized"));
  NodeProto made = dequantize(inputs, node.input(2));
  if (!scales.scalar) set_attribute(made, "axis", std::int64_t{0});
  *nodes_.Add() = std::move(made);
}

void WeightQuantization::change(NodeProto& node) {
  const std::string& type = node.op_type();
  if (!node.domain().empty() || (type != "Conv" && type != "ConvTranspose" && type != "Gemm") ||
      node.input_size() < 2 || !leads_to_quantize(node)) {
    return;
  }
  const NodeProto* const x = links_.producer(node.input(0));
  const std::string x_name = x != nullptr && is_dequantize(*x) ? input_name(*x, 1) : "";
  const auto x_scale = reader_.is_scalar(x_name) ? reader_.floats(x_name) : std::nullopt;
  if (!x_scale) return;
  std::vector<float> bias;
  if (!input_name(node, 2).empty()) {
    const auto bias_type = model_.type(node.input(2));
    const auto values = reader_.floats(node.input(2));
    if (!values || !bias_type || bias_type->dims.size() != 1) return;
    bias = *values;
  }
  const NodeProto* const maker = links_.producer(node.input(1));
  std::optional<Scales> weights;
  if (maker != nullptr && is_dequantize(*maker)) {
    if (bias.empty()) return;
    weights = scales_of(node, *maker, bias.size());
  } else if (const TensorProto* const constant = model_.constant(node.input(1))) {
    weights = quantize_weights(node, *constant);
  }
  if (weights && !bias.empty()) quantize_bias(node, bias, x_scale->front(), *weights);
}

void WeightQuantization::run() {
  for (const NodeProto& node : graph_.node()) {
    NodeProto changed = node;
    change(changed);
    nodes_.Add()->Swap(&changed);
  }
  graph_.mutable_node()->Swap(&nodes_);
}

}  // namespace

void quantize_float_weights(onnx::GraphProto& graph, const OnnxModel& model,
                            const QuantizationReader& reader) {
  WeightQuantization(graph, model, reader).run();
}

}  // namespace gemm64

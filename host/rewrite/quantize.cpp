// SPDX-License-Identifier: Apache-2.0
#include "host/rewrite/quantize.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "host/error.hpp"
#include "host/onnx/builder.hpp"
#include "host/onnx/qdq_edits.hpp"
#include "host/onnx/supported.hpp"
#include "host/onnx/tensor.hpp"
#include "host/onnx/without_data.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

const std::set<std::string>& moves() {
  static const std::set<std::string> kNames{"MaxPool",   "Reshape", "Flatten",  "Slice",
                                            "Transpose", "Squeeze", "Unsqueeze"};
  return kNames;
}

/// A scale and a zero point of uint8 that hold a range and 0.
struct Scale {
  float scale;
  int zero;
};

Scale scale_of(std::pair<float, float> range) {
  const float low = std::min(range.first, 0.0F);
  const float high = std::max(range.second, 0.0F);
  const float scale = high == low ? 1.0F : (high - low) / 255.0F;
  return {scale, static_cast<int>(std::nearbyint(std::clamp(-low / scale, 0.0F, 255.0F)))};
}

using Floats = Eigen::Map<const Eigen::VectorXf>;

/// Calls function(first value, count, channel, whether each value has a channel of its own) for the
/// values of [...][channels][inner].
template <class Function>
void for_channels(std::int64_t size, std::int64_t channels, std::int64_t inner, Function function) {
  if (inner == 1) {
    for (std::int64_t i = 0; i < size; i += channels) function(i, channels, 0, true);
    return;
  }
  for (std::int64_t i = 0, row = 0; i < size; i += inner, ++row) {
    function(i, inner, row % channels, false);
  }
}

/// Do the values stand as they do in memory? They are most of a model, so they are not copied.
bool is_in_place(const TensorProto& tensor, std::int64_t size) {
  return tensor.raw_data().size() == static_cast<std::size_t>(size) * sizeof(float) &&
         reinterpret_cast<std::uintptr_t>(tensor.raw_data().data()) % alignof(float) == 0;
}

/// The greatest magnitude of each channel; infinite where one of its values is not finite.
std::vector<float> greatest(const Floats& values, std::int64_t channels, std::int64_t inner) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::int64_t kLanes = 16;
  // A NaN is greater than nothing, so it is made infinite before.
  const auto magnitude = [](float value) {
    const float size = std::abs(value);
    return size < kInfinity ? size : kInfinity;
  };
  std::vector<float> found(static_cast<std::size_t>(channels));
  for_channels(values.size(), channels, inner,
               [&](std::int64_t first, std::int64_t count, std::int64_t channel, bool each) {
                 const float* const from = values.data() + first;
                 float* const to = found.data() + channel;
                 if (each) {
                   for (std::int64_t i = 0; i < count; ++i) {
                     to[i] = std::max(to[i], magnitude(from[i]));
                   }
                   return;
                 }
                 std::array<float, kLanes> lanes{};
                 std::int64_t i = 0;
                 for (; i + kLanes <= count; i += kLanes) {
                   for (std::int64_t lane = 0; lane < kLanes; ++lane) {
                     float& most = lanes[static_cast<std::size_t>(lane)];
                     most = std::max(most, magnitude(from[i + lane]));
                   }
                 }
                 for (; i < count; ++i) *to = std::max(*to, magnitude(from[i]));
                 *to = std::max(*to, *std::max_element(lanes.begin(), lanes.end()));
               });
  return found;
}

/// Values in steps of their channels' scales, as int8.
std::string in_steps(const Floats& values, const std::vector<float>& scales, std::int64_t inner) {
  std::string bytes(static_cast<std::size_t>(values.size()), '\0');
  const auto steps = [](float value, float scale) {
    const float whole = std::nearbyint(value / scale);
    return static_cast<char>(static_cast<int>(std::clamp(whole, -127.0F, 127.0F)));
  };
  for_channels(values.size(), static_cast<std::int64_t>(scales.size()), inner,
               [&](std::int64_t first, std::int64_t count, std::int64_t channel, bool each) {
                 const float* const from = values.data() + first;
                 const float* const scale = scales.data() + channel;
                 char* const to = &bytes[static_cast<std::size_t>(first)];
                 if (each) {
                   for (std::int64_t i = 0; i < count; ++i) to[i] = steps(from[i], scale[i]);
                 } else {
                   for (std::int64_t i = 0; i < count; ++i) to[i] = steps(from[i], *scale);
                 }
               });
  return bytes;
}

class Quantizer {
 public:
  /// `network`: the model's without data, with the nodes that are to be quantized.
  Quantizer(const OnnxModel& model, onnx::ModelProto network, const Ranges& ranges)
      : model_(model), network_(std::move(network)), ranges_(ranges), links_(network_.graph()) {
    result_.proto = network_;
  }

  QuantizedModel run();

 private:
  bool is_quantizable(const NodeProto& node) const;
  bool has_weights(const NodeProto& node, std::size_t rank) const;
  bool is_ranged(const std::string& value) const;
  const std::string& root(const std::string& value) const;
  void choose(const NodeProto& node);
  void write(NodeProto node, bool quantizable);
  void write_pair(const std::string& value, const std::string& from);
  std::string write_weights(const std::string& name, std::int64_t axis);
  std::string write_bias(const NodeProto& node);
  std::string read_name(const std::string& value) const;
  NodeProto& add(const char* type, const std::vector<std::string>& inputs,
                 const std::string& output);
  TensorProto& constant(const std::string& name, int type, const std::vector<std::int64_t>& dims);

  const OnnxModel& model_;
  const onnx::ModelProto network_;
  const Ranges& ranges_;
  GraphLinks links_;
  QuantizedModel result_;
  std::set<std::string> chosen_;    // values that get a pair
  std::set<std::string> absorbed_;  // outputs of a Relu or Clip that the zero point stands for
  std::map<std::string, std::string> same_as_;        // values that share another's scale
  std::map<std::string, std::string> weights_;        // dequantized ones, by name and axis
  std::map<std::string, std::vector<float>> scales_;  // of weights, by the same
  google::protobuf::RepeatedPtrField<NodeProto> nodes_;
};

QuantizedModel Quantizer::run() {
  const onnx::GraphProto& graph = network_.graph();
  std::set<const NodeProto*> quantizable;
  for (const NodeProto& node : graph.node()) {
    if (!is_quantizable(node)) continue;
    quantizable.insert(&node);
    choose(node);
  }
  for (const std::string& input : model_.inputs()) {
    if (chosen_.count(input) != 0) write_pair(input, input);
  }
  for (const TensorProto& tensor : graph.initializer()) {
    if (chosen_.count(tensor.name()) != 0) write_pair(tensor.name(), tensor.name());
  }
  for (const NodeProto& node : graph.node()) write(node, quantizable.count(&node) != 0);
  onnx::GraphProto& to = *result_.proto.mutable_graph();
  to.mutable_node()->Swap(&nodes_);
  to.clear_value_info();
  std::set<std::string> used;
  for (const NodeProto& node : to.node()) used.insert(node.input().begin(), node.input().end());
  for (const auto& output : to.output()) used.insert(output.name());
  auto& constants = *to.mutable_initializer();
  constants.erase(std::remove_if(constants.begin(), constants.end(),
                                 [&](const auto& one) { return used.count(one.name()) == 0; }),
                  constants.end());
  for (TensorProto& one : constants) {
    if (!has_data(one) && model_.constant(one.name()) != nullptr)
      one = *model_.constant(one.name());
  }
  return std::move(result_);
}

/// Is it a float value with a known range, or a float constant?
bool Quantizer::is_ranged(const std::string& value) const {
  const auto type = model_.type(value);
  return type && type->data_type == TensorProto::FLOAT && ranges_.count(value) != 0;
}

bool Quantizer::has_weights(const NodeProto& node, std::size_t rank) const {
  const auto type = model_.type(node.input(1));
  const std::string bias = input_name(node, 2);
  const auto bias_type = model_.type(bias);
  return type && type->dims.size() >= rank && type->data_type == TensorProto::FLOAT &&
         model_.constant(node.input(1)) != nullptr && has_data(*model_.constant(node.input(1))) &&
         (bias.empty() ||
          (model_.constant(bias) != nullptr && bias_type && bias_type->dims.size() == 1));
}

bool Quantizer::is_quantizable(const NodeProto& node) const {
  if (!node.domain().empty() || node.input_size() == 0 || node.output_size() != 1 ||
      !is_ranged(node.input(0)) || !is_ranged(node.output(0))) {
    return false;
  }
  const std::string& type = node.op_type();
  if (type == "Conv") return has_weights(node, 3);
  if (type == "Gemm") {
    return has_weights(node, 2) && attribute(node, "alpha", 1.0F) == 1 &&
           attribute(node, "beta", 1.0F) == 1;
  }
  if (type == "MatMul") {
    return has_weights(node, 2) && model_.type(node.input(1))->dims.size() == 2;
  }
  if (type == "Add" || type == "Mul" || type == "Concat") {
    return std::all_of(node.input().begin(), node.input().end(),
                       [this](const std::string& name) { return is_ranged(name); });
  }
  // What only moves values is worth it where they are integers already.
  if (moves().count(type) != 0) return chosen_.count(node.input(0)) != 0;
  static const std::set<std::string> kFunctions{"AveragePool", "GlobalAveragePool", "Sigmoid",
                                                "LeakyRelu"};
  return kFunctions.count(type) != 0;
}

const std::string& Quantizer::root(const std::string& value) const {
  const auto found = same_as_.find(value);
  return found == same_as_.end() ? value : root(found->second);
}

/// Its inputs get pairs, and its output, or that of a Relu or Clip which alone reads it.
void Quantizer::choose(const NodeProto& node) {
  const std::string& type = node.op_type();
  const bool weighted = type == "Conv" || type == "Gemm" || type == "MatMul";
  const bool has_many = type == "Add" || type == "Mul" || type == "Concat";
  for (int i = 0; i < (has_many ? node.input_size() : 1); ++i) chosen_.insert(node.input(i));
  std::string output = node.output(0);
  const NodeProto* reader = links_.only_reader(output);
  if ((weighted || type == "Add") && reader != nullptr &&
      (reader->op_type() == "Relu" || reader->op_type() == "Clip") &&
      is_ranged(reader->output(0))) {
    output = reader->output(0);
    absorbed_.insert(output);
  }
  chosen_.insert(output);
  if (moves().count(type) != 0) same_as_[output] = node.input(0);
}

/// How others read a value: through its pair, where it has one.
std::string Quantizer::read_name(const std::string& value) const {
  if (chosen_.count(value) == 0) return value;
  const auto& outputs = network_.graph().output();
  const bool is_output = std::any_of(outputs.begin(), outputs.end(),
                                     [&](const auto& one) { return one.name() == value; });
  return is_output ? value : value + "_dequantized";
}

void Quantizer::write(NodeProto node, bool quantizable) {
  const std::string type = node.op_type();
  if (node.output_size() == 0 || absorbed_.count(node.output(0)) == 0)
    ++(quantizable ? result_.quantized : result_.left)[type];
  const bool weighted = quantizable && (type == "Conv" || type == "Gemm" || type == "MatMul");
  if (weighted) {
    const bool flipped = type == "Conv" || attribute(node, "transB", std::int64_t{0}) != 0;
    const std::string weights = write_weights(node.input(1), flipped ? 0 : 1);
    if (!input_name(node, 2).empty()) node.set_input(2, write_bias(node));
    node.set_input(1, weights);
  }
  for (int i = 0; i < node.input_size(); ++i) {
    if (weighted && i > 0) continue;
    node.set_input(i, read_name(node.input(i)));
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string value = node.output(i);
    if (chosen_.count(value) == 0) continue;
    if (read_name(value) == value) node.set_output(i, value + "_float");
    pairs.emplace_back(value, node.output(i));
  }
  *nodes_.Add() = std::move(node);
  for (const auto& [value, from] : pairs) write_pair(value, from);
}

void Quantizer::write_pair(const std::string& value, const std::string& from) {
  const std::string& source = root(value);
  const std::string scale = source + "_scale";
  const std::string zero = source + "_zero_point";
  if (links_.claim(source)) {
    const auto range = ranges_.at(source);
    if (!std::isfinite(range.first) || !std::isfinite(range.second)) {
      throw UsageError(
          fmt::format("{}: '{}' has values that are not finite", model_.name(), printable(source)));
    }
    const Scale chosen = scale_of(range);
    constant(scale, TensorProto::FLOAT, {}).add_float_data(chosen.scale);
    constant(zero, TensorProto::UINT8, {}).add_int32_data(chosen.zero);
  }
  add("QuantizeLinear", {from, scale, zero}, value + "_quantized");
  add("DequantizeLinear", {value + "_quantized", scale, zero}, read_name(value));
}

/// int8, one scale for each index of `axis`, the zero point 0. Returns the dequantized value's
/// name.
std::string Quantizer::write_weights(const std::string& name, std::int64_t axis) {
  const std::string key = fmt::format("{}_by_{}", name, axis == 0 ? "row" : "column");
  if (const auto found = weights_.find(key); found != weights_.end()) return found->second;
  const TensorProto& from = *model_.constant(name);
  const std::vector<std::int64_t> dims(from.dims().begin(), from.dims().end());
  const std::int64_t size = model_.type(name)->elements();
  std::vector<float> copied;
  if (!is_in_place(from, size)) copied = float_values(from, size).value();
  const Floats values(is_in_place(from, size)
                          ? reinterpret_cast<const float*>(from.raw_data().data())
                          : copied.data(),
                      size);
  const std::int64_t channels = dims[static_cast<std::size_t>(axis)];
  const std::int64_t inner = axis == 0 && channels != 0 ? size / channels : 1;
  std::vector<float> scales = greatest(values, channels, inner);
  if (std::any_of(scales.begin(), scales.end(), [](float one) { return !std::isfinite(one); })) {
    throw UsageError(fmt::format("{}: weights '{}' have values that are not finite", model_.name(),
                                 printable(name)));
  }
  for (float& scale : scales) scale = scale > 0 ? scale / 127.0F : 1.0F;
  std::string bytes = in_steps(values, scales, inner);
  constant(key + "_quantized", TensorProto::INT8, dims).set_raw_data(std::move(bytes));
  TensorProto& scale = constant(key + "_scale", TensorProto::FLOAT, {channels});
  for (const float value : scales) scale.add_float_data(value);
  TensorProto& zero = constant(key + "_zero_point", TensorProto::INT8, {channels});
  zero.set_raw_data(std::string(static_cast<std::size_t>(channels), '\0'));
  set_attribute(add("DequantizeLinear", {key + "_quantized", key + "_scale", key + "_zero_point"},
                    key + "_dequantized"),
                "axis", axis);
  scales_[name] = std::move(scales);
  return weights_[key] = key + "_dequantized";
}

/// int32, in steps of the input's scale times the weights'.
std::string Quantizer::write_bias(const NodeProto& node) {
  const std::string name = links_.new_name(node.input(2) + "_bias");
  const std::vector<float>& weights = scales_.at(node.input(1));
  const float x = scale_of(ranges_.at(root(node.input(0)))).scale;
  const auto size = static_cast<std::int64_t>(weights.size());
  const std::vector<float> values = float_values(*model_.constant(node.input(2)), size).value();
  TensorProto& steps = constant(name + "_quantized", TensorProto::INT32, {size});
  TensorProto& scales = constant(name + "_scale", TensorProto::FLOAT, {size});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float scale = x * weights[i];
    const double whole = std::nearbyint(double{values[i % values.size()]} / double{scale});
    steps.add_int32_data(static_cast<std::int32_t>(std::clamp(whole, -2147483647.0, 2147483647.0)));
    scales.add_float_data(scale);
  }
  set_attribute(
      add("DequantizeLinear", {name + "_quantized", name + "_scale"}, name + "_dequantized"),
      "axis", std::int64_t{0});
  return name + "_dequantized";
}

NodeProto& Quantizer::add(const char* type, const std::vector<std::string>& inputs,
                          const std::string& output) {
  NodeProto& node = *nodes_.Add();
  node.set_op_type(type);
  node.set_name(output + "_node");
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

TensorProto& Quantizer::constant(const std::string& name, int type,
                                 const std::vector<std::int64_t>& dims) {
  TensorProto& tensor = *result_.proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

/// The first operator on quantized values; empty where there is none.
std::string quantized_operator(const OnnxModel& model) {
  const auto& nodes = model.graph().node();
  const auto found = std::find_if(nodes.begin(), nodes.end(), [](const NodeProto& node) {
    return is_quantize(node) || is_dequantize(node) || node.op_type().rfind("QLinear", 0) == 0;
  });
  return found == nodes.end() ? "" : operator_name(*found);
}

}  // namespace

bool is_quantized(const OnnxModel& model) { return !quantized_operator(model).empty(); }

QuantizedModel quantize_model(const OnnxModel& model, const Ranges& ranges) {
  constexpr std::int64_t kFirstOpset = 13;  // scales by channel
  if (model.opset() < kFirstOpset) {
    throw UsageError(fmt::format("{}: is of opset {}; networks are quantized from opset {} on",
                                 model.name(), model.opset(), kFirstOpset));
  }
  if (const std::string found = quantized_operator(model); !found.empty()) {
    throw UsageError(fmt::format("{}: is quantized already: it has {}", model.name(), found));
  }
  onnx::ModelProto inference = without_data(model.proto());
  drop_dropouts(*inference.mutable_graph(), model);
  return Quantizer(model, std::move(inference), ranges).run();
}

}  // namespace gemm64

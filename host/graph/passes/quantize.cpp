// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/quantize.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/onnx/without_data.hpp"
#include "host/graph/passes/eliminate_no_ops.hpp"
#include "host/graph/passes/fold_weights.hpp"
#include "host/graph/passes/masks.hpp"
#include "host/graph/passes/raise_opset.hpp"
#include "host/graph/passes/weight_steps.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_product(const std::string& type) {
  return type == "Conv" || type == "Gemm" || type == "MatMul";
}

/// Operators that compute one value of several.
bool is_join(const std::string& type) { return type == "Add" || type == "Mul" || type == "Concat"; }

/// Operators that only move values, or take the largest.
bool is_move(const std::string& type) {
  static const std::vector<std::string> kNames{"MaxPool",   "Reshape", "Flatten",  "Slice",
                                               "Transpose", "Squeeze", "Unsqueeze"};
  return is_in(kNames, type);
}

/// A scale and a zero point of uint8 that hold a range and 0.
struct Scale {
  float scale;
  int zero;
};

Scale scale_of(std::pair<float, float> range) {
  const float low = std::min(range.first, 0.0F);
  const float high = std::max(range.second, 0.0F);
  const float step = (high - low) / 255.0F;
  const float scale = step >= std::numeric_limits<float>::min() ? step : 1.0F;
  return {scale, static_cast<int>(std::nearbyint(std::clamp(-low / scale, 0.0F, 255.0F)))};
}

/// Do the values stand as they do in memory? They are most of a model, so they are not copied.
bool is_in_place(const TensorProto& tensor, std::int64_t size) {
  return tensor.raw_data().size() == static_cast<std::size_t>(size) * sizeof(float) &&
         reinterpret_cast<std::uintptr_t>(tensor.raw_data().data()) % alignof(float) == 0;
}

/// How QuantizeChoice calls a node.
const std::string& name_of(const NodeProto& node) {
  static const std::string kNone;
  if (!node.name().empty()) return node.name();
  return node.output_size() == 0 ? kNone : node.output(0);
}

class Quantizer {
 public:
  /// `network`: the model's without data, with the nodes that are to be quantized.
  Quantizer(const OnnxModel& model, onnx::ModelProto network, const Ranges& ranges,
            const QuantizeChoice& choice)
      : model_(model),
        network_(std::move(network)),
        ranges_(ranges),
        choice_(choice),
        masks_(find_masks(model, ranges)),
        links_(network_.graph()) {
    result_.proto = network_;
    for (const auto& output : network_.graph().output()) outputs_.insert(output.name());
  }

  QuantizedModel run();

 private:
  /// Weights of a product, as written.
  struct Weights {
    std::string dequantized;
    std::vector<float> scales;
  };

  std::optional<std::string> why_left(const NodeProto& node) const;
  std::optional<std::string> why_product_left(const NodeProto& node) const;
  std::optional<std::string> why_joined_left(const NodeProto& node) const;
  bool has_constant_weights(const NodeProto& node) const;
  bool is_ranged(const std::string& value) const { return ranges_.count(value) != 0; }
  std::string why_unranged(const std::string& value) const;
  const std::string& root(const std::string& value) const;
  void choose(const NodeProto& node);
  void write(const NodeProto& from, bool quantizable);
  void write_product(const NodeProto& from, NodeProto& node);
  void write_pair(const std::string& value, const std::string& from);
  const Weights& write_weights(const NodeProto& node, float x);
  std::vector<float> bias_of(const NodeProto& node) const;
  std::string write_bias(const NodeProto& node, float x, const std::vector<float>& weights);
  void tidy();
  const Scale& scale(const std::string& value);
  std::string read_name(const std::string& value);
  std::string named(const std::string& value, const char* suffix);
  NodeProto& add(const char* type, const std::vector<std::string>& inputs,
                 const std::string& output);
  TensorProto& constant(const std::string& name, int type, const std::vector<std::int64_t>& dims);

  const OnnxModel& model_;
  const onnx::ModelProto network_;
  const Ranges& ranges_;
  const QuantizeChoice& choice_;
  const std::set<std::string> masks_;
  GraphLinks links_;
  QuantizedModel result_;
  std::set<std::string> outputs_;   // of the graph
  std::set<std::string> chosen_;    // values that get a pair
  std::set<std::string> absorbed_;  // outputs of a Relu or Clip that the zero point stands for
  std::map<std::string, std::string> same_as_;  // values that share another's scale
  std::map<std::string, Scale> scales_;         // of activations
  std::map<std::string, Weights> weights_;      // by name and axis
  std::map<std::string, std::string> names_;    // of what is new, by its value and suffix
  google::protobuf::RepeatedPtrField<NodeProto> nodes_;
};

QuantizedModel Quantizer::run() {
  const onnx::GraphProto& graph = network_.graph();
  std::set<const NodeProto*> quantizable;
  for (const NodeProto& node : graph.node()) {
    if (const std::optional<std::string> why = why_left(node)) {
      if (!why->empty()) ++result_.why_left[node.op_type()][*why];
      continue;
    }
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
  result_.proto.mutable_graph()->mutable_node()->Swap(&nodes_);
  tidy();
  return std::move(result_);
}

/// Leaves what is read: constants with their values, and none of them as an input of the graph.
void Quantizer::tidy() {
  onnx::GraphProto& to = *result_.proto.mutable_graph();
  to.clear_value_info();
  std::set<std::string> used = outputs_;
  for (const NodeProto& node : to.node()) {
    used.insert(node.input().begin(), node.input().end());
    add_inner_reads(node, used);
  }
  auto& inputs = *to.mutable_input();
  const auto is_fed = [this](const onnx::ValueInfoProto& input) {
    return model_.is_graph_input(input.name());
  };
  const auto end = std::stable_partition(inputs.begin(), inputs.end(), is_fed);
  result_.inputs_made_constant = static_cast<int>(inputs.end() - end);
  inputs.erase(end, inputs.end());
  constexpr std::int64_t kFirstVersion = 7;  // of the format: that of opset 13
  result_.proto.set_ir_version(std::max(result_.proto.ir_version(), kFirstVersion));
  auto& constants = *to.mutable_initializer();
  constants.erase(std::remove_if(constants.begin(), constants.end(),
                                 [&](const auto& one) { return used.count(one.name()) == 0; }),
                  constants.end());
  for (TensorProto& one : constants) {
    if (!has_data(one) && model_.constant(one.name()) != nullptr)
      one = *model_.constant(one.name());
  }
}

std::string Quantizer::why_unranged(const std::string& value) const {
  const auto type = model_.type(value);
  const TensorProto* tensor = model_.constant(value);
  const int data_type = type ? type->data_type : tensor != nullptr ? tensor->data_type() : 0;
  return data_type != 0 && data_type != TensorProto::FLOAT
             ? fmt::format("of {}", data_type_name(data_type))
             : "no numbers seen";
}

/// Why a node stays in float: an empty text for an operator that always does; nothing where it is
/// quantized.
std::optional<std::string> Quantizer::why_left(const NodeProto& node) const {
  const std::string& type = node.op_type();
  if (!node.domain().empty() || !is_in(quantizable_operators(), type)) return "";
  if (!choice_.operators.empty() && !is_in(choice_.operators, type)) return "not chosen";
  const std::string& name = name_of(node);
  if (!choice_.nodes.empty() && !is_in(choice_.nodes, name)) return "not chosen";
  if (is_in(choice_.excluded, name)) return "excluded";
  // What only moves values is worth it where they are integers already.
  if (is_move(type) && chosen_.count(node.input(0)) == 0) return "";
  if (node.output_size() != 1) return "several outputs";
  for (const std::string& value : {node.input(0), node.output(0)}) {
    if (!is_ranged(value)) return why_unranged(value);
  }
  if (is_product(type)) return why_product_left(node);
  const auto is_mask = [this](const std::string& value) { return masks_.count(value) != 0; };
  if (is_mask(node.output(0)) || std::any_of(node.input().begin(), node.input().end(), is_mask)) {
    return "a mask";
  }
  return is_join(type) ? why_joined_left(node) : std::nullopt;
}

/// Are they in the file, as floats that a scale for each output channel can stand for?
bool Quantizer::has_constant_weights(const NodeProto& node) const {
  const TensorProto* tensor = model_.constant(node.input(1));
  if (tensor == nullptr || tensor->data_type() != TensorProto::FLOAT || !has_data(*tensor)) {
    return false;
  }
  return node.op_type() == "Conv" ? tensor->dims_size() >= 3 : tensor->dims_size() == 2;
}

std::optional<std::string> Quantizer::why_product_left(const NodeProto& node) const {
  const bool constant = has_constant_weights(node);
  if (node.op_type() == "Conv" && !constant) return "weights that are no constant";
  if (!constant) {
    if (!is_ranged(node.input(1))) return why_unranged(node.input(1));
    for (int i = 0; i < 2; ++i) {
      if (masks_.count(node.input(i)) != 0) return "a mask";
    }
  }
  if (node.op_type() == "Gemm" &&
      (attribute(node, "alpha", 1.0F) != 1 || attribute(node, "beta", 1.0F) != 1)) {
    return "alpha or beta other than 1";
  }
  const std::string bias = input_name(node, 2);
  if (bias.empty()) return std::nullopt;
  const TensorProto* tensor = model_.constant(bias);
  if (tensor == nullptr || tensor->data_type() != TensorProto::FLOAT) {
    return "a bias that is no constant";
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor->dims()) elements *= size;
  const bool by_column = tensor->dims_size() == 0 || elements == *tensor->dims().rbegin();
  return elements > 0 && by_column ? std::nullopt : std::optional<std::string>("a bias by row");
}

std::optional<std::string> Quantizer::why_joined_left(const NodeProto& node) const {
  bool any_constant = false;
  for (const std::string& value : node.input()) {
    if (!is_ranged(value)) return why_unranged(value);
    any_constant = any_constant || model_.is_constant(value);
  }
  const NodeProto* reader = links_.only_reader(node.output(0));
  if (node.op_type() == "Add" && !any_constant && reader != nullptr &&
      reader->op_type() == "Softmax") {
    return "may add a mask";
  }
  return std::nullopt;
}

const std::string& Quantizer::root(const std::string& value) const {
  const auto found = same_as_.find(value);
  return found == same_as_.end() ? value : root(found->second);
}

/// Its inputs get pairs, and its output, or that of a Relu or Clip that is its only reader.
void Quantizer::choose(const NodeProto& node) {
  const std::string& type = node.op_type();
  int activations = 1;
  if (is_join(type)) activations = node.input_size();
  if (is_product(type) && !has_constant_weights(node)) activations = 2;
  for (int i = 0; i < activations; ++i) chosen_.insert(node.input(i));
  std::string output = node.output(0);
  const NodeProto* reader = links_.only_reader(output);
  if ((is_product(type) || type == "Add") && reader != nullptr && reader->domain().empty() &&
      (reader->op_type() == "Relu" || reader->op_type() == "Clip") &&
      is_ranged(reader->output(0))) {
    output = reader->output(0);
    absorbed_.insert(output);
  }
  chosen_.insert(output);
  if (is_move(type)) same_as_[output] = node.input(0);
}

/// A name that is new in the graph, for what belongs to a value.
std::string Quantizer::named(const std::string& value, const char* suffix) {
  const auto [found, is_new] = names_.try_emplace(value + '\n' + suffix);
  if (is_new) found->second = links_.new_name(value + suffix);
  return found->second;
}

/// How others read a value: through its pair, where it has one. The graph's outputs keep their
/// names.
std::string Quantizer::read_name(const std::string& value) {
  if (chosen_.count(value) == 0) return value;
  const bool is_result = outputs_.count(value) != 0 && links_.producer(value) != nullptr;
  return is_result ? value : named(value, "_dequantized");
}

const Scale& Quantizer::scale(const std::string& value) {
  const std::string& source = root(value);
  const auto [found, is_new] = scales_.try_emplace(source);
  if (!is_new) return found->second;
  const auto chosen = choice_.ranges.find(source);
  const auto range = chosen == choice_.ranges.end() ? ranges_.at(source) : chosen->second;
  if (!std::isfinite(range.second - range.first)) {
    throw UsageError(fmt::format("{}: '{}' has values that are not finite, or too far apart",
                                 model_.name(), printable(source)));
  }
  found->second = scale_of(range);
  constant(named(source, "_scale"), TensorProto::FLOAT, {}).add_float_data(found->second.scale);
  constant(named(source, "_zero_point"), TensorProto::UINT8, {}).add_int32_data(found->second.zero);
  return found->second;
}

void Quantizer::write(const NodeProto& from, bool quantizable) {
  NodeProto node = from;
  const std::string& type = from.op_type();
  if (from.output_size() == 0 || absorbed_.count(from.output(0)) == 0)
    ++(quantizable ? result_.quantized : result_.left)[type];
  if (quantizable && is_product(type)) {
    write_product(from, node);
  } else {
    for (std::string& input : *node.mutable_input()) input = read_name(input);
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::string& output : *node.mutable_output()) {
    const std::string value = output;
    if (chosen_.count(value) == 0) continue;
    if (read_name(value) == value) output = named(value, "_float");
    pairs.emplace_back(value, output);
  }
  *nodes_.Add() = std::move(node);
  for (const auto& [value, name] : pairs) write_pair(value, name);
}

/// The inputs of a product: activations, weights or other activations, and a bias.
void Quantizer::write_product(const NodeProto& from, NodeProto& node) {
  const float x = scale(from.input(0)).scale;
  node.set_input(0, read_name(from.input(0)));
  std::vector<float> scales;
  if (has_constant_weights(from)) {
    const Weights& weights = write_weights(from, x);
    node.set_input(1, weights.dequantized);
    scales = weights.scales;
  } else {
    node.set_input(1, read_name(from.input(1)));
    scales = {scale(from.input(1)).scale};
  }
  if (!input_name(from, 2).empty()) node.set_input(2, write_bias(from, x, scales));
}

void Quantizer::write_pair(const std::string& value, const std::string& from) {
  scale(value);
  const std::string& source = root(value);
  const std::string scale = named(source, "_scale");
  const std::string zero = named(source, "_zero_point");
  const std::string quantized = named(value, "_quantized");
  add("QuantizeLinear", {from, scale, zero}, quantized);
  add("DequantizeLinear", {quantized, scale, zero}, read_name(value));
}

std::vector<float> Quantizer::bias_of(const NodeProto& node) const {
  const TensorProto* tensor = model_.constant(input_name(node, 2));
  if (tensor == nullptr) return {};
  return float_values(*tensor, std::numeric_limits<std::int64_t>::max()).value();
}

/// int8, one scale for each output channel, the zero point 0. `x`: the activations' scale; steps
/// are no finer than those in which the bias fits 31 bits.
const Quantizer::Weights& Quantizer::write_weights(const NodeProto& node, float x) {
  const bool by_row = node.op_type() == "Conv" || attribute(node, "transB", std::int64_t{0}) != 0;
  const std::int64_t axis = by_row ? 0 : 1;
  const std::string& name = node.input(1);
  const std::string key = name + (by_row ? "_by_row" : "_by_column");
  const auto [found, is_new] = weights_.try_emplace(key);
  if (!is_new) return found->second;
  const TensorProto& from = *model_.constant(name);
  const std::vector<std::int64_t> dims(from.dims().begin(), from.dims().end());
  std::int64_t size = 1;
  for (const std::int64_t dim : dims) size *= dim;
  std::vector<float> copied;
  if (!is_in_place(from, size)) copied = float_values(from, size).value();
  const FloatValues values(is_in_place(from, size)
                               ? reinterpret_cast<const float*>(from.raw_data().data())
                               : copied.data(),
                           size);
  const std::int64_t channels = dims[static_cast<std::size_t>(axis)];
  const std::int64_t inner = by_row && channels != 0 ? size / channels : 1;
  std::vector<float>& scales = found->second.scales;
  scales = greatest_of_channels(values, channels, inner);
  if (std::any_of(scales.begin(), scales.end(), [](float one) { return !std::isfinite(one); })) {
    throw UsageError(fmt::format("{}: weights '{}' have values that are not finite", model_.name(),
                                 printable(name)));
  }
  constexpr float kMostSteps = 1 << 30;  // of a bias, so that the products' sum has room
  const std::vector<float> bias = bias_of(node);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const float least = bias.empty() ? 0.0F : std::abs(bias[i % bias.size()]) / kMostSteps / x;
    scales[i] = scales[i] > 0 ? std::max(scales[i] / 127.0F, least) : std::max(1.0F, least);
  }
  const std::string quantized = named(key, "_quantized");
  const std::string scale_name = named(key, "_scale");
  const std::string zero_name = named(key, "_zero_point");
  constant(quantized, TensorProto::INT8, dims).set_raw_data(in_steps(values, scales, inner));
  TensorProto& scale = constant(scale_name, TensorProto::FLOAT, {channels});
  for (const float value : scales) scale.add_float_data(value);
  TensorProto& zero = constant(zero_name, TensorProto::INT8, {channels});
  zero.set_raw_data(std::string(static_cast<std::size_t>(channels), '\0'));
  found->second.dequantized = named(key, "_dequantized");
  set_attribute(
      add("DequantizeLinear", {quantized, scale_name, zero_name}, found->second.dequantized),
      "axis", axis);
  return found->second;
}

/// int32, in steps of the activations' scale times the weights'.
std::string Quantizer::write_bias(const NodeProto& node, float x,
                                  const std::vector<float>& weights) {
  const std::string name = links_.new_name(node.input(2) + "_bias");
  const std::vector<float> values = bias_of(node);
  const std::size_t size = std::max(values.size(), weights.size());
  const auto count = static_cast<std::int64_t>(size);
  TensorProto& steps = constant(named(name, "_quantized"), TensorProto::INT32, {count});
  for (std::size_t i = 0; i < size; ++i) {
    const double scale = double{x * weights[i % weights.size()]};
    const double value = double{values[i % values.size()]};
    const double whole = scale > 0 ? std::nearbyint(value / scale) : 0;
    steps.add_int32_data(static_cast<std::int32_t>(std::clamp(whole, -2147483647.0, 2147483647.0)));
  }
  TensorProto& scales = constant(named(name, "_scale"), TensorProto::FLOAT, {count});
  for (std::size_t i = 0; i < size; ++i) scales.add_float_data(x * weights[i % weights.size()]);
  const std::string dequantized = named(name, "_dequantized");
  set_attribute(
      add("DequantizeLinear", {named(name, "_quantized"), named(name, "_scale")}, dequantized),
      "axis", std::int64_t{0});
  return dequantized;
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

/// Throws UsageError where the choice names what the model has not.
void check_choice(const OnnxModel& model, const QuantizeChoice& choice) {
  for (const std::string& name : choice.operators) {
    if (is_in(quantizable_operators(), name)) continue;
    throw UsageError(fmt::format("{} cannot be quantized; what can be are {}", printable(name),
                                 fmt::join(quantizable_operators(), ", ")));
  }
  std::set<std::string> names;
  for (const NodeProto& node : model.graph().node()) names.insert(name_of(node));
  for (const auto* list : {&choice.nodes, &choice.excluded}) {
    for (const std::string& name : *list) {
      if (names.count(name) != 0) continue;
      throw UsageError(fmt::format("{}: has no node '{}'", model.name(), printable(name)));
    }
  }
}

/// Throws UsageError, which says why, where nothing was quantized.
void check_quantized(const OnnxModel& model, const QuantizedModel& quantized) {
  if (!quantized.quantized.empty()) return;
  std::vector<std::string> reasons;
  for (const auto& [type, whys] : quantized.why_left) {
    for (const auto& [why, count] : whys)
      reasons.push_back(fmt::format("{} {}: {}", count, type, why));
  }
  const std::string why =
      reasons.empty() ? fmt::format("it has none of {}", fmt::join(quantizable_operators(), ", "))
                      : fmt::format("{}", fmt::join(reasons, "; "));
  throw UsageError(fmt::format("{}: nothing in it can be quantized: {}", model.name(), why));
}

}  // namespace

const std::vector<std::string>& quantizable_operators() {
  static const std::vector<std::string> kNames{
      "Add",       "AveragePool", "Concat",   "Conv", "Flatten", "Gemm",    "GlobalAveragePool",
      "LeakyRelu", "MatMul",      "MaxPool",  "Mul",  "Reshape", "Sigmoid", "Slice",
      "Squeeze",   "Transpose",   "Unsqueeze"};
  return kNames;
}

bool is_quantized(const OnnxModel& model) { return !quantized_operator(model).empty(); }

QuantizedModel quantize_model(const OnnxModel& model, const Ranges& ranges,
                              const QuantizeChoice& choice) {
  if (const std::string found = quantized_operator(model); !found.empty()) {
    throw UsageError(fmt::format("{}: is quantized already: it has {}", model.name(), found));
  }
  if (model.opset() < kRaised) {
    return quantize_model(model.rewritten(raise_opset(model)), ranges, choice);
  }
  if (std::optional<onnx::ModelProto> folded = fold_weights(model)) {
    return quantize_model(model.rewritten(*std::move(folded)), ranges, choice);
  }
  check_choice(model, choice);
  onnx::ModelProto inference = without_data(model.proto());
  const int dropouts = eliminate_no_ops(*inference.mutable_graph(), model, true);
  QuantizedModel result = Quantizer(model, std::move(inference), ranges, choice).run();
  result.dropouts = dropouts;
  check_quantized(model, result);
  return result;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/quantized_graph.hpp"

#include <algorithm>
#include <cmath>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/passes/eliminate_no_ops.hpp"
#include "host/graph/passes/eliminate_redundant_clips.hpp"
#include "host/graph/passes/fold_pads.hpp"
#include "host/graph/passes/fuse_shuffle.hpp"
#include "host/graph/passes/fuse_transpose_into_weights.hpp"
#include "host/graph/passes/merge_equal_quantizes.hpp"
#include "host/graph/passes/qdq_double_pairs.hpp"
#include "host/graph/passes/quantize_before_moves.hpp"
#include "host/graph/passes/quantize_float_weights.hpp"
#include "host/graph/passes/split_to_slices.hpp"
#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

constexpr const char* kMicrosoft = "com.microsoft";
constexpr std::int64_t kMostChannels = 1 << 20;  // of a bias

bool is_byte(int type) { return type == TensorProto::INT8 || type == TensorProto::UINT8; }

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

/// Rewrites the nodes of one graph, in order.
class Fusion {
 public:
  explicit Fusion(const OnnxModel& model)
      : model_(model), reader_(model), proto_(model.proto()), links_(proto_.graph()) {}

  onnx::ModelProto run();

 private:
  /// A float operator, the dequantized values that it reads, and who quantizes its only output.
  struct Group {
    const NodeProto& node;
    std::vector<const Dequantized*> inputs;
    const NodeProto* quantize = nullptr;
    int type = 0;  // of the quantize's values
  };

  void dispatch(const NodeProto& node);
  bool fuse(const Group& group);
  bool fuse_move(const Group& group);
  bool fuse_function(const Group& group);
  bool fuse_pair(const Group& group);
  bool fuse_concat(const Group& group);
  bool fuse_pad(const Group& group);
  bool fuse_convolution(const Group& group);
  bool fuse_matmul(const Group& group);
  bool fuse_gemm(const Group& group);
  void carry(const NodeProto& node, const Dequantized& value);
  void keep(const NodeProto& node);
  void materialize(const std::string& value);

  const NodeProto* only_quantize(const NodeProto& node) const;
  bool fits_channels(const Dequantized& weights, std::int64_t axis) const;
  std::string zero_of(const std::string& zero, int type);
  std::vector<std::string> operand(const Dequantized& value);
  std::optional<std::string> bias_of(const NodeProto& node) const;
  std::optional<std::string> bias_in_steps(const NodeProto& node, const Dequantized& x,
                                           const Dequantized& weights);
  std::optional<std::string> converted(const Dequantized& bias, const std::vector<double>& ratios);
  bool is_zero(const std::string& zero) const;
  NodeProto& emit(const NodeProto& like, const char* domain, const std::string& type,
                  const std::vector<std::string>& inputs, const std::string& output);
  NodeProto& emit(const Group& group, const char* domain, const std::string& type,
                  std::vector<std::string> inputs);

  const OnnxModel& model_;
  QuantizationReader reader_;
  onnx::ModelProto proto_;
  GraphLinks links_;
  google::protobuf::RepeatedPtrField<NodeProto> nodes_;
  std::map<std::string, Dequantized> dequantized_;       // by the float value's name
  std::map<std::string, const NodeProto*> not_emitted_;  // DequantizeLinear that no node needed yet
  std::set<const NodeProto*> done_;
};

onnx::ModelProto Fusion::run() {
  onnx::GraphProto& graph = *proto_.mutable_graph();
  merge_equal_quantizes(graph);
  quantize_before_moves(graph, reader_, model_.opset());
  split_to_slices(graph, model_, reader_);
  quantize_float_weights(graph, model_, reader_);
  for (int i = model_.graph().initializer_size(); i < graph.initializer_size(); ++i) {
    reader_.add(graph.initializer(i));
  }
  eliminate_redundant_clips(graph, reader_);
  links_ = GraphLinks(graph);
  for (const NodeProto& node : graph.node()) {
    if (done_.count(&node) == 0) dispatch(node);
  }
  for (const auto& output : graph.output()) materialize(output.name());
  const auto known = proto_.opset_import();
  if (std::none_of(known.begin(), known.end(),
                   [](const auto& set) { return set.domain() == kMicrosoft; })) {
    auto& set = *proto_.add_opset_import();
    set.set_domain(kMicrosoft);
    set.set_version(1);
  }
  graph.mutable_node()->Swap(&nodes_);
  return std::move(proto_);
}

void Fusion::dispatch(const NodeProto& node) {
  if (is_dequantize(node) && node.output_size() == 1) {
    dequantized_[node.output(0)] = reader_.read(node);
    not_emitted_[node.output(0)] = &node;
    return;
  }
  if (node.output_size() >= 1 && (node.domain().empty() || node.domain() == "ai.onnx")) {
    Group group{node, {}, only_quantize(node)};
    if (group.quantize != nullptr) group.type = reader_.result_type(*group.quantize);
    for (const std::string& name : node.input()) {
      const auto found = dequantized_.find(name);
      group.inputs.push_back(found == dequantized_.end() ? nullptr : &found->second);
    }
    if (!group.inputs.empty() && group.inputs[0] != nullptr && fuse(group)) {
      if (group.quantize != nullptr) done_.insert(group.quantize);
      return;
    }
  }
  keep(node);
}

bool Fusion::fuse(const Group& group) {
  const std::string& type = group.node.op_type();
  if (!is_byte(group.inputs[0]->type)) return false;
  for (const Dequantized* input : group.inputs) {
    const auto scale = input == nullptr ? std::nullopt : model_.type(input->scale);
    if (scale && scale->data_type != TensorProto::FLOAT) return false;
  }
  if (type == "Conv") return fuse_convolution(group);
  if (type == "MatMul") return fuse_matmul(group);
  if (type == "Gemm") return fuse_gemm(group);
  if (is_one_of(type, {"Add", "Mul"})) return fuse_pair(group);
  if (type == "Concat") return fuse_concat(group);
  if (type == "Pad") return fuse_pad(group);
  if (is_one_of(type, {"AveragePool", "LeakyRelu", "GlobalAveragePool", "Sigmoid", "Softmax"})) {
    return fuse_function(group);
  }
  return fuse_move(group);
}

/// Returns the reader of the node's only output, if that is a single QuantizeLinear.
const NodeProto* Fusion::only_quantize(const NodeProto& node) const {
  int outputs = 0;
  for (const std::string& name : node.output()) outputs += name.empty() ? 0 : 1;
  const NodeProto* reader = outputs == 1 ? links_.only_reader(node.output(0)) : nullptr;
  return reader != nullptr && is_quantize(*reader) && reader->input(0) == node.output(0) &&
                 reader_.is_scalar(input_name(*reader, 1))
             ? reader
             : nullptr;
}

/// Operators that move values, or take the largest: the integers move alike.
bool Fusion::fuse_move(const Group& group) {
  const std::string& type = group.node.op_type();
  const Dequantized& value = *group.inputs[0];
  const auto scalar = reader_.scalar(value.scale, value.zero, value.type);
  if (!scalar) return false;
  const bool compares = is_one_of(type, {"MaxPool", "ReduceMax", "ReduceMin"});
  if (compares && (scalar->scale <= 0 ||
                   (type == "MaxPool" && (model_.opset() < 12 || group.node.output_size() > 1)))) {
    return false;
  }
  const bool moves =
      compares ||
      is_one_of(type, {"Expand", "Flatten", "Gather", "Reshape", "Slice", "Squeeze", "Tile",
                       "Transpose", "Unsqueeze"}) ||
      (type == "Resize" && attribute(group.node, "mode", std::string("nearest")) == "nearest");
  if (!moves) return false;
  if (group.quantize != nullptr && reader_.same_scale(value, *group.quantize)) {
    std::vector<std::string> inputs(group.node.input().begin(), group.node.input().end());
    inputs[0] = value.values;
    emit(group, "", type, inputs);
    return true;
  }
  // Of weights ONNX Runtime moves only those that it transposes (fuse_transpose_into_weights).
  if (links_.is_quantized(group.node.output(0)) || model_.is_constant(value.values) ||
      !is_one_of(type, {"MaxPool", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice"})) {
    return false;
  }
  carry(group.node, value);
  return true;
}

/// Moves the integers instead of the floats, for later readers.
void Fusion::carry(const NodeProto& node, const Dequantized& value) {
  std::vector<std::string> inputs(node.input().begin(), node.input().end());
  inputs[0] = value.values;
  const std::string name = links_.new_name(node.output(0) + "_quantized");
  emit(node, "", node.op_type(), inputs, name);
  Dequantized moved = value;
  moved.values = name;
  dequantized_[node.output(0)] = moved;
}

bool Fusion::fuse_function(const Group& group) {
  if (group.quantize == nullptr || group.type != group.inputs[0]->type) return false;
  if (links_.inputs_of(group.node) != 1 || !reader_.is_scalar(group.inputs[0]->scale)) {
    return false;
  }
  const std::string& type = group.node.op_type();
  if (type == "AveragePool") {
    const auto dilations = attribute(group.node, "dilations", std::vector<std::int64_t>{});
    if (std::any_of(dilations.begin(), dilations.end(), [](auto step) { return step != 1; })) {
      return false;
    }
  }
  NodeProto& node = emit(group, kMicrosoft, "QLinear" + type, operand(*group.inputs[0]));
  if (type == "AveragePool") remove_attribute(node, "dilations");
  if (type == "Softmax") {
    const std::int64_t opset = model_.opset();
    set_attribute(node, "opset",
                  opset >= 13 ? std::int64_t{13} : std::int64_t{opset >= 11 ? 11 : 1});
  }
  return true;
}

bool Fusion::fuse_pair(const Group& group) {
  if (group.quantize == nullptr || group.inputs.size() != 2 || group.inputs[1] == nullptr ||
      group.inputs[1]->type != group.inputs[0]->type || group.type != group.inputs[0]->type ||
      !reader_.is_scalar(group.inputs[0]->scale) || !reader_.is_scalar(group.inputs[1]->scale)) {
    return false;
  }
  std::vector<std::string> inputs = operand(*group.inputs[0]);
  for (std::string& name : operand(*group.inputs[1])) inputs.push_back(std::move(name));
  emit(group, kMicrosoft, "QLinear" + group.node.op_type(), inputs);
  return true;
}

bool Fusion::fuse_concat(const Group& group) {
  if (group.quantize == nullptr) return false;
  std::vector<std::string> inputs{input_name(*group.quantize, 1),
                                  zero_of(input_name(*group.quantize, 2), group.type)};
  for (const Dequantized* part : group.inputs) {
    if (part == nullptr || part->type != group.type || !reader_.is_scalar(part->scale))
      return false;
    for (std::string& name : operand(*part)) inputs.push_back(std::move(name));
  }
  emit(group.node, kMicrosoft, "QLinearConcat", inputs, group.quantize->output(0));
  return true;
}

/// A Pad that adds zeros, where the scale stays: zero points then.
bool Fusion::fuse_pad(const Group& group) {
  constexpr std::int64_t kTakesInputs = 11;  // opset from which pads are no attribute
  const Dequantized& value = *group.inputs[0];
  if (group.quantize == nullptr || model_.opset() < kTakesInputs ||
      attribute(group.node, "mode", std::string("constant")) != "constant" ||
      !reader_.is_scalar(value.scale) || !reader_.same_scale(value, *group.quantize)) {
    return false;
  }
  if (const std::string added = input_name(group.node, 2); !added.empty()) {
    const auto number = reader_.floats(added);
    if (!number || number->size() != 1 || number->front() != 0) return false;
  }
  std::vector<std::string> inputs(group.node.input().begin(), group.node.input().end());
  inputs.resize(std::max<std::size_t>(inputs.size(), 3));
  inputs[0] = value.values;
  inputs[2] = zero_of(value.zero, value.type);
  emit(group, "", "Pad", inputs);
  return true;
}

/// Is there one scale, or as many as `axis` has indices? ONNX Runtime 1.31 does not read which axis
/// the scales are for: of a square matrix it takes them for the output channels' always.
bool Fusion::fits_channels(const Dequantized& weights, std::int64_t axis) const {
  if (weights.in_blocks || !is_byte(weights.type)) return false;
  if (reader_.is_scalar(weights.scale)) return true;
  const auto type = model_.type(weights.values);
  const auto scales = model_.type(weights.scale);
  if (!type || !scales || scales->dims.size() != 1) return false;
  const auto rank = static_cast<std::int64_t>(type->dims.size());
  const std::int64_t of = axis < 0 ? axis + rank : axis;
  return of >= 0 && of < rank && scales->dims[0] == type->dims[static_cast<std::size_t>(of)];
}

/// The integers of a bias that the file dequantizes; an empty name if the node has none.
std::optional<std::string> Fusion::bias_of(const NodeProto& node) const {
  const std::string name = input_name(node, 2);
  if (name.empty()) return name;
  const auto found = dequantized_.find(name);
  if (found == dequantized_.end() || found->second.type != TensorProto::INT32) return std::nullopt;
  return found->second.values;
}

/// The same for a sum in steps of x's scale times the weights' only, which are the bias's as well:
/// ONNX Runtime 1.31 accepts 1 % more or less and 1e-6. Others are converted if that is exact.
std::optional<std::string> Fusion::bias_in_steps(const NodeProto& node, const Dequantized& x,
                                                 const Dequantized& weights) {
  const auto integers = bias_of(node);
  if (!integers || integers->empty()) return integers;
  const Dequantized& bias = dequantized_.at(node.input(2));
  const auto own = reader_.floats(bias.scale);
  const auto x_scale = reader_.floats(x.scale);
  const auto scales = reader_.floats(weights.scale);
  if (!own || !x_scale || !scales || own->empty() || scales->empty() || bias.in_blocks) {
    return std::nullopt;
  }
  const std::size_t count = std::max(own->size(), scales->size());
  if ((own->size() != 1 && own->size() != count) ||
      (scales->size() != 1 && scales->size() != count)) {
    return std::nullopt;
  }
  bool same = is_zero(bias.zero);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < count; ++i) {
    const float is = (*own)[own->size() == 1 ? 0 : i];
    const float step = x_scale->front() * (*scales)[scales->size() == 1 ? 0 : i];
    same = same && std::abs(is - step) <= 1e-6F + 0.01F * std::abs(step);
    ratios.push_back(static_cast<double>(is) / static_cast<double>(step));
  }
  return same ? integers : converted(bias, ratios);
}

/// Is a zero point absent, or constants of 0?
bool Fusion::is_zero(const std::string& zero) const {
  if (zero.empty()) return true;
  const TensorProto* const constant = model_.constant(zero);
  const auto values = constant == nullptr ? std::nullopt : integer_values(*constant, kMostChannels);
  return values &&
         std::all_of(values->begin(), values->end(), [](auto value) { return value == 0; });
}

/// The bias as integers in other steps, `ratios` times finer; nothing if they are none.
std::optional<std::string> Fusion::converted(const Dequantized& bias,
                                             const std::vector<double>& ratios) {
  const TensorProto* const constant = model_.constant(bias.values);
  const auto values = constant == nullptr ? std::nullopt : integer_values(*constant, kMostChannels);
  if (!values || !is_zero(bias.zero) || constant->dims_size() != 1) return std::nullopt;
  if (ratios.size() != 1 && ratios.size() != values->size()) return std::nullopt;
  TensorProto other;
  other.set_data_type(TensorProto::INT32);
  other.add_dims(constant->dims(0));
  for (std::size_t i = 0; i < values->size(); ++i) {
    const double value = static_cast<double>((*values)[i]) * ratios[ratios.size() == 1 ? 0 : i];
    const double steps = std::nearbyint(value);
    constexpr double kRounding = 1.0 / (1 << 22);  // of the scales, which are float32
    constexpr double kMost = 1 << 30;
    if (!(std::abs(value - steps) <= kRounding * std::abs(value)) || std::abs(steps) > kMost) {
      return std::nullopt;
    }
    other.add_int32_data(static_cast<std::int32_t>(steps));
  }
  other.set_name(links_.new_name(bias.values + "_converted"));
  proto_.mutable_graph()->add_initializer()->Swap(&other);
  return proto_.graph().initializer(proto_.graph().initializer_size() - 1).name();
}

bool Fusion::fuse_convolution(const Group& group) {
  const Dequantized& x = *group.inputs[0];
  if (group.quantize == nullptr || group.type != x.type || group.inputs.size() < 2 ||
      group.inputs[1] == nullptr || !reader_.is_scalar(x.scale) ||
      !fits_channels(*group.inputs[1], 0) ||
      (x.type == TensorProto::INT8 && group.inputs[1]->type != x.type)) {
    return false;
  }
  const auto bias = bias_in_steps(group.node, x, *group.inputs[1]);
  if (!bias) return false;
  std::vector<std::string> inputs = operand(x);
  for (std::string& name : operand(*group.inputs[1])) inputs.push_back(std::move(name));
  inputs.push_back(input_name(*group.quantize, 1));
  inputs.push_back(zero_of(input_name(*group.quantize, 2), group.type));
  if (!bias->empty()) inputs.push_back(*bias);
  emit(group.node, "", "QLinearConv", inputs, group.quantize->output(0));
  return true;
}

bool Fusion::fuse_matmul(const Group& group) {
  const Dequantized& a = *group.inputs[0];
  const Dequantized* b = group.inputs.size() == 2 ? group.inputs[1] : nullptr;
  if (b == nullptr || !reader_.is_scalar(a.scale) || !fits_channels(*b, -1) ||
      (a.type == TensorProto::INT8 && b->type != a.type)) {
    return false;
  }
  if (group.quantize != nullptr) {
    if (group.type != a.type) return false;
    std::vector<std::string> inputs = operand(a);
    for (std::string& name : operand(*b)) inputs.push_back(std::move(name));
    emit(group, "", "QLinearMatMul", inputs);
    return true;
  }
  if (links_.is_quantized_or_clipped(group.node)) return false;
  emit(group.node, kMicrosoft, "MatMulIntegerToFloat",
       {a.values, b->values, a.scale, b->scale, zero_of(a.zero, a.type), zero_of(b->zero, b->type)},
       group.node.output(0));
  return true;
}

bool Fusion::fuse_gemm(const Group& group) {
  const Dequantized& a = *group.inputs[0];
  const Dequantized* b = group.inputs.size() >= 2 ? group.inputs[1] : nullptr;
  const bool transposed = attribute(group.node, "transB", std::int64_t{0}) != 0;
  if (b == nullptr || !reader_.is_scalar(a.scale) || !fits_channels(*b, transposed ? 0 : 1) ||
      (a.type == TensorProto::INT8 && b->type != a.type) ||
      (group.quantize == nullptr ? links_.is_quantized_or_clipped(group.node)
                                 : group.type != a.type)) {
    return false;
  }
  // ONNX Runtime 1.31 needs both zero points, and adds one to int8 weights of one scale only.
  const bool is_added = a.type == TensorProto::UINT8 && b->type == TensorProto::INT8 &&
                        reader_.is_scalar(b->scale) && model_.constant(b->values) != nullptr;
  if (a.zero.empty() || (b->zero.empty() && !is_added)) return false;
  // As ONNX Runtime 1.31 does, which multiplies no bias by a factor and looks at no scale of one.
  const auto bias = bias_of(group.node);
  if (!bias || (!bias->empty() && (attribute(group.node, "alpha", 1.0F) != 1.0F ||
                                   attribute(group.node, "beta", 1.0F) != 1.0F))) {
    return false;
  }
  std::vector<std::string> inputs = operand(a);
  for (std::string& operand_name : operand(*b)) inputs.push_back(std::move(operand_name));
  inputs.push_back(*bias);
  std::string output = group.node.output(0);
  if (group.quantize != nullptr) {
    inputs.push_back(input_name(*group.quantize, 1));
    inputs.push_back(zero_of(input_name(*group.quantize, 2), group.type));
    output = group.quantize->output(0);
  }
  remove_attribute(emit(group.node, kMicrosoft, "QGemm", inputs, output), "beta");
  return true;
}

/// A zero point that the file leaves out, as a constant.
std::string Fusion::zero_of(const std::string& zero, int type) {
  if (!zero.empty()) return zero;
  TensorProto& constant = *proto_.mutable_graph()->add_initializer();
  constant.set_name(links_.new_name("zero_point"));
  constant.set_data_type(type);
  constant.add_int32_data(0);
  return constant.name();
}

std::vector<std::string> Fusion::operand(const Dequantized& value) {
  return {value.values, value.scale, zero_of(value.zero, value.type)};
}

NodeProto& Fusion::emit(const NodeProto& like, const char* domain, const std::string& type,
                        const std::vector<std::string>& inputs, const std::string& output) {
  for (const std::string& name : inputs) materialize(name);
  NodeProto& node = *nodes_.Add();
  node = like;
  node.set_op_type(type);
  node.set_domain(domain);
  node.clear_input();
  node.clear_output();
  for (const std::string& name : inputs) node.add_input(name);
  node.add_output(output);
  return node;
}

/// An operator on integers that takes the quantize's scale, zero point and place.
NodeProto& Fusion::emit(const Group& group, const char* domain, const std::string& type,
                        std::vector<std::string> inputs) {
  if (type.rfind("QLinear", 0) == 0) {
    inputs.push_back(input_name(*group.quantize, 1));
    inputs.push_back(zero_of(input_name(*group.quantize, 2), group.type));
  }
  return emit(group.node, domain, type, inputs, group.quantize->output(0));
}

/// Writes the DequantizeLinear of a float value that somebody reads after all.
void Fusion::materialize(const std::string& value) {
  const auto found = dequantized_.find(value);
  if (found == dequantized_.end()) return;
  const auto original = not_emitted_.find(value);
  NodeProto node;
  if (original != not_emitted_.end()) {
    node = *original->second;
    not_emitted_.erase(original);
  } else {
    if (!links_.claim(value)) return;
    node.set_op_type("DequantizeLinear");
    node.set_name(value + "_dequantized");
    node.add_input(found->second.values);
    node.add_input(found->second.scale);
    if (!found->second.zero.empty()) node.add_input(found->second.zero);
    node.add_output(value);
  }
  links_.claim(value);
  *nodes_.Add() = node;
}

void Fusion::keep(const NodeProto& node) {
  for (const std::string& name : node.input()) materialize(name);
  *nodes_.Add() = node;
}

}  // namespace

OnnxModel with_quantized_operators(OnnxModel model, const ImportOptions& import) {
  const auto& nodes = model.graph().node();
  const bool has_pairs = std::any_of(nodes.begin(), nodes.end(), is_dequantize);
  const bool has_subgraphs = std::any_of(nodes.begin(), nodes.end(), [](const NodeProto& node) {
    return std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto& attribute) {
      return attribute.has_g() || attribute.graphs_size() != 0;
    });
  });
  if (!has_pairs || has_subgraphs) return fuse_shuffles(std::move(model), import);
  if (has_no_ops(model)) {
    onnx::ModelProto proto = model.proto();
    eliminate_no_ops(*proto.mutable_graph(), model);
    model = model.rewritten(std::move(proto), import);
  }
  while (std::optional<onnx::ModelProto> joined = fuse_double_pairs(model)) {
    model = model.rewritten(*std::move(joined), import);
  }
  if (auto fused = fuse_transposes_into_weights(model)) {
    model = model.rewritten(*std::move(fused), import);
  }
  model = fold_pads(model.rewritten(Fusion(model).run(), import), import);
  return fuse_shuffles(std::move(model), import);
}

}  // namespace gemm64

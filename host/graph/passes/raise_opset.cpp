// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/raise_opset.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "host/graph/onnx/builder.hpp"
#include "host/graph/onnx/graph_links.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

constexpr std::int64_t kFirstVersion = 7;  // of the file format that has opset 13

const AttributeProto* find(const NodeProto& node, const char* name) {
  for (const AttributeProto& one : node.attribute()) {
    if (one.name() == name) return &one;
  }
  return nullptr;
}

void set_text(NodeProto& node, const char* name, const char* value) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::STRING);
  attribute.set_s(value);
}

/// Raises one file. Each step is what ONNX's list of changes says of an opset.
class Raising {
 public:
  explicit Raising(const OnnxModel& model) : model_(model), from_(model.opset()) {
    collect(model.graph());
  }

  void raise(GraphProto& graph);

 private:
  void collect(const GraphProto& graph);
  std::string new_name(const std::string& wish);
  void raise(NodeProto& node);
  void raise_softmax(const NodeProto& node);
  bool is_last_axis(const NodeProto& node) const;
  /// Constants next to the node that reads them, so that subgraphs take them alike.
  std::string constant(const NodeProto& reader, const char* what, TensorProto tensor);
  void integers_to_input(NodeProto& node, const char* attribute, int input);
  void float_to_input(NodeProto& node, const char* attribute, int input, bool wanted);

  const OnnxModel& model_;
  const std::int64_t from_;
  std::set<std::string> names_;
  google::protobuf::RepeatedPtrField<NodeProto>* nodes_ = nullptr;
};

void Raising::collect(const GraphProto& graph) {
  for (const NodeProto& node : graph.node()) {
    names_.insert(node.output().begin(), node.output().end());
    for (const AttributeProto& one : node.attribute()) {
      if (one.has_g()) collect(one.g());
    }
  }
  for (const auto& value : graph.input()) names_.insert(value.name());
  for (const auto& tensor : graph.initializer()) names_.insert(tensor.name());
}

std::string Raising::new_name(const std::string& wish) {
  std::string name = wish;
  for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wish, i);
  return name;
}

void Raising::raise(GraphProto& graph) {
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  auto* const outer = std::exchange(nodes_, &nodes);
  for (NodeProto& node : *graph.mutable_node()) {
    for (AttributeProto& one : *node.mutable_attribute()) {
      if (one.has_g()) raise(*one.mutable_g());
    }
    const std::string& type = node.op_type();
    if (!node.domain().empty() && node.domain() != "ai.onnx") {
      *nodes.Add() = std::move(node);
    } else if (type == "Softmax" || type == "LogSoftmax" || type == "Hardmax") {
      raise_softmax(node);
    } else {
      NodeProto raised = std::move(node);
      raise(raised);
      *nodes.Add() = std::move(raised);
    }
  }
  graph.mutable_node()->Swap(&nodes);
  nodes_ = outer;
}

std::string Raising::constant(const NodeProto& reader, const char* what, TensorProto tensor) {
  NodeProto& node = *nodes_->Add();
  node.set_op_type("Constant");
  node.add_output(new_name(fmt::format("{}_{}", reader.output(0), what)));
  AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(AttributeProto::TENSOR);
  *value.mutable_t() = std::move(tensor);
  return node.output(0);
}

void Raising::integers_to_input(NodeProto& node, const char* attribute, int input) {
  const AttributeProto* const from = find(node, attribute);
  if (from == nullptr) return;
  TensorProto tensor;
  tensor.set_data_type(TensorProto::INT64);
  std::vector<std::int64_t> values(from->ints().begin(), from->ints().end());
  if (from->type() == AttributeProto::INT) values = {from->i()};
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  while (node.input_size() <= input) node.add_input();
  node.set_input(input, constant(node, attribute, std::move(tensor)));
  remove_attribute(node, attribute);
}

/// `wanted`: also where the attribute is left out, with the operator's default of 0.
void Raising::float_to_input(NodeProto& node, const char* attribute, int input, bool wanted) {
  const AttributeProto* const from = find(node, attribute);
  if (from == nullptr && !wanted) return;
  const float value = from == nullptr ? 0.0F : from->f();
  const auto type = model_.type(node.input(0));
  GraphProto scratch;
  GraphBuilder(scratch).add_scalar("", type ? type->data_type : TensorProto::FLOAT, value);
  scratch.mutable_initializer(0)->clear_name();
  while (node.input_size() <= input) node.add_input();
  node.set_input(input, constant(node, attribute, scratch.initializer(0)));
  remove_attribute(node, attribute);
}

void Raising::raise(NodeProto& node) {
  const std::string type = node.op_type();
  if (from_ < 10) {
    if (type == "Slice") {
      integers_to_input(node, "starts", 1);
      integers_to_input(node, "ends", 2);
      integers_to_input(node, "axes", 3);
    } else if (type == "TopK") {
      integers_to_input(node, "k", 1);
    } else if (type == "Upsample") {
      node.set_op_type("Resize");
    }
  }
  if (from_ < 11) {
    if (type == "Clip") {
      float_to_input(node, "min", 1, false);
      float_to_input(node, "max", 2, false);
    } else if (type == "Pad") {
      integers_to_input(node, "pads", 1);
      float_to_input(node, "value", 2,
                     attribute(node, "mode", std::string("constant")) == "constant");
    } else if (node.op_type() == "Resize") {
      // Between the region, which nothing asks for, and the values.
      const std::string scales = node.input(1);
      node.set_input(1, "");
      node.add_input(scales);
      set_text(node, "coordinate_transformation_mode", "asymmetric");
      set_text(node, "nearest_mode", "floor");
    } else if (type == "Scatter") {
      node.set_op_type("ScatterElements");
    }
  }
  if (from_ < 12 && type == "Dropout") remove_attribute(node, "ratio");
  if (type == "Squeeze" || type == "Unsqueeze" || type == "ReduceSum") {
    integers_to_input(node, "axes", 1);
  } else if (type == "Split") {
    integers_to_input(node, "split", 1);
  }
}

/// Is the axis of a Softmax the last one, as far as is known?
bool Raising::is_last_axis(const NodeProto& node) const {
  const std::int64_t axis = attribute(node, "axis", std::int64_t{1});
  const auto type = model_.type(node.input(0));
  return axis == -1 || (type && axis == static_cast<std::int64_t>(type->dims.size()) - 1);
}

/// Before opset 13 it is over all axes from its own on, as if they were one.
void Raising::raise_softmax(const NodeProto& node) {
  const std::int64_t axis = attribute(node, "axis", std::int64_t{1});
  NodeProto raised = node;
  remove_attribute(raised, "axis");
  set_attribute(raised, "axis", std::int64_t{-1});
  if (is_last_axis(node)) {
    *nodes_->Add() = std::move(raised);
    return;
  }
  const std::string& output = node.output(0);
  const std::string flat = new_name(output + "_flat");
  const std::string shape = new_name(output + "_shape");
  const std::string result = new_name(output + "_of_flat");
  const auto add = [&](const char* type, const std::vector<std::string>& inputs,
                       const std::string& to) -> NodeProto& {
    NodeProto& added = *nodes_->Add();
    added.set_op_type(type);
    for (const std::string& input : inputs) added.add_input(input);
    added.add_output(to);
    return added;
  };
  set_attribute(add("Flatten", {node.input(0)}, flat), "axis", axis);
  raised.set_input(0, flat);
  raised.set_output(0, result);
  *nodes_->Add() = std::move(raised);
  add("Shape", {node.input(0)}, shape);
  add("Reshape", {result, shape}, output);
}

}  // namespace

onnx::ModelProto raise_opset(const OnnxModel& model) {
  if (model.opset() < kFirstRaised) {
    throw UsageError(fmt::format("{}: is of opset {}; networks are quantized from opset {} on",
                                 model.name(), model.opset(), kFirstRaised));
  }
  onnx::ModelProto proto = model.proto();
  Raising(model).raise(*proto.mutable_graph());
  for (auto& set : *proto.mutable_opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") set.set_version(kRaised);
  }
  proto.set_ir_version(std::max<std::int64_t>(proto.ir_version(), kFirstVersion));
  return proto;
}

}  // namespace gemm64

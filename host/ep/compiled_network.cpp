// SPDX-License-Identifier: Apache-2.0
#include "host/ep/compiled_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "host/ep/options.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/util/error.hpp"

namespace gemm64::ep {
namespace {

constexpr const char* kContextDomain = "com.microsoft";

void add_attribute(onnx::NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void add_attribute(onnx::NodeProto& node, const char* name, const std::string& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

onnx::ValueInfoProto value_info(const OnnxModel& model, const std::string& name) {
  onnx::ValueInfoProto value;
  value.set_name(name);
  const std::optional<TensorType> type = model.type(name);
  if (!type) return value;
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type->data_type);
  for (const std::int64_t size : type->dims) tensor.mutable_shape()->add_dim()->set_dim_value(size);
  return value;
}

/// What nodes of a graph read and make, in order.
struct Values {
  std::vector<std::string> read, made;
};

Values values_of(const onnx::GraphProto& graph, const std::set<std::size_t>& nodes) {
  Values values;
  std::set<std::string> known;
  for (const std::size_t index : nodes) {
    const onnx::NodeProto& node = graph.node(static_cast<int>(index));
    for (const std::string& name : node.input()) {
      if (!name.empty() && known.insert(name).second) values.read.push_back(name);
    }
    for (const std::string& name : node.output()) {
      if (!name.empty() && known.insert(name).second) values.made.push_back(name);
    }
  }
  return values;
}

/// Of the values that nodes make, those that others or the graph's outputs read.
std::vector<std::string> results_of(const onnx::GraphProto& graph,
                                    const std::set<std::size_t>& nodes) {
  std::set<std::string> read;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (nodes.count(static_cast<std::size_t>(i)) != 0) continue;
    read.insert(graph.node(i).input().begin(), graph.node(i).input().end());
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  std::vector<std::string> made = values_of(graph, nodes).made;
  made.erase(std::remove_if(made.begin(), made.end(),
                            [&read](const std::string& name) { return read.count(name) == 0; }),
             made.end());
  return made;
}

/// A model of the same operators, without a graph.
onnx::ModelProto empty_model(const OnnxModel& model) {
  onnx::ModelProto made;
  made.set_ir_version(model.proto().ir_version());
  *made.mutable_opset_import() = model.proto().opset_import();
  made.mutable_graph()->set_name(model.graph().name());
  return made;
}

/// Copies the constants that nodes of the graph read.
void add_constants(const OnnxModel& model, const std::set<std::string>& read,
                   onnx::GraphProto& graph) {
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    if (read.count(tensor.name()) != 0) *graph.add_initializer() = tensor;
  }
}

}  // namespace

CompiledNetwork::CompiledNetwork(const OnnxModel& model, const Executable& executable)
    : model_(model), executable_(executable), groups_(work_of_device(model, executable)) {
  const onnx::GraphProto& from = model.graph();
  std::map<std::size_t, std::size_t> group_of;  // a node
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].nodes = closed(from, std::move(groups_[i].nodes));
    for (const std::size_t node : groups_[i].nodes) group_of[node] = i;
  }
  graph_ = empty_model(model);
  onnx::GraphProto& graph = *graph_.mutable_graph();
  *graph.mutable_input() = from.input();
  *graph.mutable_output() = from.output();
  *graph.mutable_sparse_initializer() = from.sparse_initializer();
  std::set<std::size_t> done;
  const auto add_group = [&](std::size_t group) {
    if (done.insert(group).second) add_node(graph, group);
  };
  for (const PassItem& item : executable.order) {
    if (item.kind == PassItem::Kind::kProgram) {
      for (const DeviceLayer& layer : executable.plan.programs[item.index].layers) {
        add_group(group_of.at(static_cast<std::size_t>(layer.node)));
      }
      continue;
    }
    if (item.kind == PassItem::Kind::kSums) {
      for (const std::size_t node : item.nodes) add_group(group_of.at(node));
      continue;
    }
    const auto found = group_of.find(item.index);
    if (found == group_of.end()) {
      onnx::NodeProto& node = *graph.add_node() = from.node(static_cast<int>(item.index));
      node.set_name(node_label(node, static_cast<int>(item.index)));
    } else if (groups_[found->second].program == 0) {
      add_group(found->second);
    }
  }
  std::set<std::string> read;
  for (const onnx::NodeProto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  add_constants(model, read, graph);
  const auto& opsets = graph_.opset_import();
  if (std::none_of(opsets.begin(), opsets.end(),
                   [](const auto& opset) { return opset.domain() == kContextDomain; })) {
    onnx::OperatorSetIdProto& opset = *graph_.add_opset_import();
    opset.set_domain(kContextDomain);
    opset.set_version(1);
  }
}

void CompiledNetwork::add_node(onnx::GraphProto& graph, std::size_t group) const {
  onnx::NodeProto& node = *graph.add_node();
  node.set_name(fmt::format("{} {}", kProviderName, group));
  node.set_op_type(kContextType);
  node.set_domain(kContextDomain);
  const std::set<std::size_t>& nodes = groups_[group].nodes;
  for (const std::string& name : values_of(model_.graph(), nodes).read) {
    if (model_.constant(name) == nullptr) node.add_input(name);
  }
  for (const std::string& name : results_of(model_.graph(), nodes)) {
    node.add_output(name);
    *graph.add_value_info() = value_info(model_, name);
  }
  add_attribute(node, "main_context", 1);
  add_attribute(node, "embed_mode", 1);
  add_attribute(node, "ep_cache_context", std::to_string(group));
  add_attribute(node, "source", std::string(kProviderName));
}

onnx::ModelProto CompiledNetwork::model_of(const DeviceWork& group) const {
  onnx::ModelProto made = empty_model(model_);
  onnx::GraphProto& graph = *made.mutable_graph();
  for (const std::size_t index : group.nodes) {
    onnx::NodeProto& node = *graph.add_node() = model_.graph().node(static_cast<int>(index));
    node.set_name(node_label(node, static_cast<int>(index)));
  }
  const std::vector<std::string> read = values_of(model_.graph(), group.nodes).read;
  for (const std::string& name : read) {
    if (model_.constant(name) == nullptr) *graph.add_input() = value_info(model_, name);
  }
  for (const std::string& name : results_of(model_.graph(), group.nodes)) {
    *graph.add_output() = value_info(model_, name);
  }
  add_constants(model_, {read.begin(), read.end()}, graph);
  return made;
}

/// The program of a group by itself: its layers have other nodes' numbers.
LoadedExecutable CompiledNetwork::program_of(const DeviceWork& group) const {
  OnnxModel model = model_.rewritten(model_of(group));
  std::map<std::string, int> numbers;  // of nodes, by their first outputs
  for (int i = 0; i < model.graph().node_size(); ++i) {
    numbers[model.graph().node(i).output(0)] = i;
  }
  const auto renumber = [&](int& node) { node = numbers.at(model_.graph().node(node).output(0)); };
  Executable made;
  made.geometry = executable_.geometry;
  made.options = executable_.options;
  made.plan.programs = {executable_.plan.programs.at(group.program - 1)};
  made.programs = {executable_.programs.at(group.program - 1)};
  for (DeviceLayer& layer : made.plan.programs[0].layers) {
    renumber(layer.node);
    for (int& node : layer.fused) renumber(node);
    if (layer.part) renumber(layer.part->node);
  }
  made.order = pass_order(model, made.plan);
  return {std::move(model), std::move(made)};
}

std::unique_ptr<Group> CompiledNetwork::make_group(const std::string& content,
                                                   Accelerator& accelerator, RunLog& log) const {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (content != std::to_string(i)) continue;
    const DeviceWork& group = groups_[i];
    const bool is_program = group.program != 0 && group.program <= executable_.programs.size();
    auto made = is_program ? std::make_unique<Group>(accelerator, log, content, program_of(group))
                           : std::make_unique<Group>(accelerator, log, content, model_of(group));
    made->set_program(group.program);
    return made;
  }
  throw UsageError(fmt::format("{}: has no compiled group {}", model_.name(), printable(content)));
}

std::vector<NotClaimed> CompiledNetwork::not_claimed(const onnx::GraphProto& graph) const {
  std::map<std::string, std::string> reasons;
  for (const auto* const known : {&executable_.plan.on_host, &executable_.plan.between}) {
    for (const auto& [index, why] : *known) {
      reasons.emplace(node_label(model_.graph().node(index), index), why);
    }
  }
  std::vector<NotClaimed> nodes;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (node.op_type() == kContextType) continue;
    const std::string name = node_label(node, i);
    const auto why = reasons.find(name);
    nodes.push_back({name, node.op_type(), why == reasons.end() ? kNoReason : why->second});
  }
  return nodes;
}

std::vector<HostLayer> CompiledNetwork::between() const {
  std::vector<HostLayer> layers;
  for (const auto& [index, why] : executable_.plan.between) {
    const onnx::NodeProto& node = model_.graph().node(index);
    layers.push_back({fmt::format("{} ({})", node_label(node, index), operator_name(node)),
                      operator_name(node), 0, why, gemm64::values_of(model_, node),
                      executable_.plan.programs_after(index)});
  }
  return layers;
}

}  // namespace gemm64::ep

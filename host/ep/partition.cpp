// SPDX-License-Identifier: Apache-2.0
#include "host/ep/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "host/compile/device_plan.hpp"
#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/ort/graph.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64::ep {
namespace {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using Indices = std::set<std::size_t>;

/// Why the compiler must not see a node; empty where it may.
std::string why_opaque(const NodeProto& node) {
  if (node.domain() == ort::kOpaqueDomain) return "has a body, whose nodes are looked at apart";
  if (find_operator(node.domain(), node.op_type()) == nullptr) {
    return "is no operator that the compiler knows";
  }
  return "";
}

/// The graph with the nodes that the compiler must not see as opaque ones, and why they are.
ModelProto with_opaque_nodes(ModelProto graph, std::map<std::size_t, std::string>& reasons) {
  for (int i = 0; i < graph.graph().node_size(); ++i) {
    NodeProto& node = *graph.mutable_graph()->mutable_node(i);
    const std::string why = why_opaque(node);
    if (why.empty()) continue;
    reasons[static_cast<std::size_t>(i)] = why;
    node.set_domain(ort::kOpaqueDomain);
    node.clear_attribute();
  }
  return graph;
}

/// Makes the node opaque that a message of the compiler's is about. Returns whether there is one.
bool make_opaque_if_named(ModelProto& graph, const std::string& why,
                          std::map<std::size_t, std::string>& reasons) {
  for (int i = 0; i < graph.graph().node_size(); ++i) {
    NodeProto& node = *graph.mutable_graph()->mutable_node(i);
    if (node.domain() == ort::kOpaqueDomain) continue;
    const std::string label = fmt::format("{} ({})", node_label(node, i), node.op_type());
    const std::string quoted = fmt::format("'{}' ({})", node_label(node, i), node.op_type());
    if (why.find(" " + label) == std::string::npos && why.find(quoted) == std::string::npos) {
      continue;
    }
    reasons[static_cast<std::size_t>(i)] = why;
    node.set_domain(ort::kOpaqueDomain);
    node.clear_attribute();
    return true;
  }
  return false;
}

/// Who makes each value of a graph.
std::unordered_map<std::string, std::size_t> producers_of(const GraphProto& graph) {
  std::unordered_map<std::string, std::size_t> producers;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).output()) {
      if (!name.empty()) producers[name] = static_cast<std::size_t>(i);
    }
  }
  return producers;
}

/// Pairs of nodes of which the second reads what the first makes.
std::vector<std::pair<std::size_t, std::size_t>> edges_of(const GraphProto& graph) {
  const auto producers = producers_of(graph);
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).input()) {
      const auto found = producers.find(name);
      if (found != producers.end()) edges.emplace_back(found->second, static_cast<std::size_t>(i));
    }
  }
  return edges;
}

/// Can the nodes run where those of a group, which have one number in `group_of`, are a single one?
bool can_run(const std::vector<std::pair<std::size_t, std::size_t>>& edges,
             const std::vector<std::size_t>& group_of) {
  const std::size_t units = group_of.size();
  std::vector<std::vector<std::size_t>> readers(units);
  std::vector<std::size_t> waits_for(units, 0);
  for (const auto& [from, to] : edges) {
    if (group_of[from] == group_of[to]) continue;
    readers[group_of[from]].push_back(group_of[to]);
    ++waits_for[group_of[to]];
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < units; ++i) {
    if (waits_for[i] == 0) ready.push_back(i);
  }
  std::size_t run = 0;
  for (; run < ready.size(); ++run) {
    for (const std::size_t reader : readers[ready[run]]) {
      if (--waits_for[reader] == 0) ready.push_back(reader);
    }
  }
  return run == units;
}

/// Finds the nodes of the graph that nodes of its rewritten form stand for.
class Origins {
 public:
  Origins(const GraphProto& graph, const OnnxModel& rewritten)
      : graph_(graph),
        rewritten_(rewritten),
        producers_(producers_of(graph)),
        new_producers_(producers_of(rewritten.graph())) {
    for (const auto& input : graph.input()) given_.insert(input.name());
    for (const auto& constant : graph.initializer()) given_.insert(constant.name());
  }

  /// Nodes of the rewritten graph as nodes of the graph; empty where there are none for them.
  std::optional<Indices> of(Indices nodes) const {
    const std::set<std::string> inputs = boundary(nodes);
    Indices found;
    std::vector<std::string> values;
    for (const std::size_t node : nodes) {
      for (const std::string& name : rewritten_.graph().node(static_cast<int>(node)).output()) {
        if (producers_.count(name) != 0) values.push_back(name);
      }
    }
    while (!values.empty()) {
      const std::string name = std::move(values.back());
      values.pop_back();
      const auto producer = producers_.find(name);
      if (inputs.count(name) != 0 || producer == producers_.end()) {
        // What the rewritten nodes do not read, those that they stand for cannot need.
        if (inputs.count(name) == 0 && !is_constant(name)) return std::nullopt;
        continue;
      }
      if (!found.insert(producer->second).second) continue;
      for (const std::string& input : graph_.node(static_cast<int>(producer->second)).input()) {
        if (!input.empty() && (producers_.count(input) != 0 || given_.count(input) != 0)) {
          values.push_back(input);
        }
      }
    }
    return found;
  }

  bool is_constant(const std::string& name) const { return rewritten_.is_constant(name); }

 private:
  /// The values that the nodes read from others, each a value of the graph; nodes that make one
  /// that is none are added.
  std::set<std::string> boundary(Indices& nodes) const {
    std::set<std::string> inputs;
    for (bool changed = true; changed;) {
      changed = false;
      inputs.clear();
      for (const std::size_t node : Indices(nodes)) {
        for (const std::string& name : rewritten_.graph().node(static_cast<int>(node)).input()) {
          if (name.empty() || is_constant(name)) continue;
          const auto producer = new_producers_.find(name);
          if (producer != new_producers_.end() && nodes.count(producer->second) != 0) continue;
          if (producers_.count(name) != 0 || producer == new_producers_.end()) {
            inputs.insert(name);
          } else {
            nodes.insert(producer->second);
            changed = true;
          }
        }
      }
    }
    return inputs;
  }

  const GraphProto& graph_;
  const OnnxModel& rewritten_;
  std::unordered_map<std::string, std::size_t> producers_, new_producers_;
  std::set<std::string> given_;
};

class Partitioner {
 public:
  Partitioner(const ModelProto& graph, std::map<std::size_t, std::string> opaque)
      : graph_(graph.graph()), reasons_(std::move(opaque)), edges_(edges_of(graph_)) {
    for (int i = 0; i < graph_.node_size(); ++i) {
      unit_of_.push_back(unit_of_.size());
      const NodeProto& node = graph_.node(i);
      if (node.output_size() != 0) by_output_[node.output(0)].push_back(unit_of_.back());
      if (!node.name().empty()) by_name_[node.name()].push_back(unit_of_.back());
    }
  }

  void run(const ModelProto& sized, const Geometry& geometry, const CompileOptions& options) {
    ImportOptions import;
    import.shapes_only = true;
    const OnnxModel model =
        with_quantized_operators(OnnxModel::from_proto(sized, "the graph", import), import);
    CompileOptions planning = options;
    planning.most_tiles = 0;  // nothing is lowered to commands
    const Executable executable = compile(model, geometry, planning);
    const Origins origins(sized.graph(), model);
    for (DeviceWork& work : work_of_device(model, executable)) {
      const std::size_t known = groups_.size();
      add(std::move(work.nodes), model, origins);
      if (groups_.size() != known) programs_.push_back(work.program);
    }
    for (const NodeProto& node : sized.graph().node()) {
      for (const std::string& name : node.input()) {
        if (const auto type = model.type(name)) shapes_[name] = type->dims;
      }
    }
    add_reasons(model, executable.plan.on_host);
    add_reasons(model, executable.plan.between);
    for (const auto& [index, why] : executable.plan.between) {
      const NodeProto& node = model.graph().node(index);
      between_.push_back({fmt::format("{} ({})", node_label(node, index), operator_name(node)),
                          operator_name(node), 0, why, values_of(model, node),
                          executable.plan.programs_after(index)});
    }
  }

  Partition finish() {
    Partition made;
    made.groups = std::move(groups_);
    made.programs = std::move(programs_);
    made.between = std::move(between_);
    made.shapes = std::move(shapes_);
    for (int i = 0; i < graph_.node_size(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (claimed_.count(index) != 0) continue;
      const auto why = reasons_.find(index);
      made.not_claimed.push_back({node_label(graph_.node(i), i), graph_.node(i).op_type(),
                                  why == reasons_.end() ? kNoReason : why->second});
    }
    return made;
  }

  void refuse_all(const std::string& why) {
    for (int i = 0; i < graph_.node_size(); ++i) {
      reasons_.emplace(static_cast<std::size_t>(i), why);
    }
  }

 private:
  void add(Indices nodes, const OnnxModel& model, const Origins& origins) {
    const std::optional<Indices> found = origins.of(closed(model.graph(), std::move(nodes)));
    if (!found || found->empty()) return;
    const auto leave = [&](const std::string& why) {
      for (const std::size_t node : *found) reasons_.emplace(node, why);
    };
    for (const std::size_t node : *found) {
      if (claimed_.count(node) != 0) return leave("another program has a node that this one needs");
      if (graph_.node(static_cast<int>(node)).domain() == ort::kOpaqueDomain) {
        return leave("stands between nodes that the device would run as one program");
      }
    }
    const Indices whole = with_float_parts(*found);
    if (!is_read(whole)) return leave("no other node and no output of the graph reads its results");
    if (!join(whole) && !join(*found)) {
      return leave("other nodes stand between those of its program");
    }
  }

  /// ONNX Runtime calls no group without outputs, and one cannot be compiled.
  bool is_read(const Indices& nodes) const {
    std::set<std::string> made;
    for (const std::size_t node : nodes) {
      const auto& outputs = graph_.node(static_cast<int>(node)).output();
      made.insert(outputs.begin(), outputs.end());
    }
    std::set<std::string> read;
    for (int i = 0; i < graph_.node_size(); ++i) {
      add_inner_reads(graph_.node(i), read);
      if (nodes.count(static_cast<std::size_t>(i)) != 0) continue;
      read.insert(graph_.node(i).input().begin(), graph_.node(i).input().end());
    }
    for (const auto& output : graph_.output()) read.insert(output.name());
    return std::any_of(made.begin(), made.end(), [&read](const std::string& name) {
      return !name.empty() && read.count(name) != 0;
    });
  }

  /// Makes a group of the nodes, if all can run then.
  bool join(const Indices& nodes) {
    // A group has the number of one of its nodes.
    for (const std::size_t node : nodes) unit_of_[node] = *nodes.begin();
    if (!can_run(edges_, unit_of_)) {
      for (const std::size_t node : nodes) unit_of_[node] = node;
      return false;
    }
    groups_.emplace_back(nodes.begin(), nodes.end());
    claimed_.insert(nodes.begin(), nodes.end());
    return true;
  }

  /// With what makes float results of the sums of a MatMulInteger: Cast, Mul by the scales, Add of
  /// a bias. ONNX Runtime makes one node of these and the product, and so it never joins the Add to
  /// what follows, where it would round otherwise.
  Indices with_float_parts(Indices nodes) const {
    for (const std::size_t product : Indices(nodes)) {
      if (graph_.node(static_cast<int>(product)).op_type() != "MatMulInteger") continue;
      std::size_t last = product;
      for (const char* const type : {"Cast", "Mul", "Add"}) {
        const std::optional<std::size_t> next = only_reader(last);
        if (!next || claimed_.count(*next) != 0 || nodes.count(*next) != 0) break;
        const NodeProto& node = graph_.node(static_cast<int>(*next));
        if (node.op_type() != type || !node.domain().empty()) break;
        if (node.op_type() == "Add" && !has_bias(node)) break;
        nodes.insert(*next);
        last = *next;
      }
    }
    return nodes;
  }

  /// Who reads a node's results, if that is one node and nothing else.
  std::optional<std::size_t> only_reader(std::size_t node) const {
    std::optional<std::size_t> reader;
    for (const auto& [from, to] : edges_) {
      if (from != node) continue;
      if (reader) return std::nullopt;
      reader = to;
    }
    for (const auto& output : graph_.output()) {
      for (const std::string& name : graph_.node(static_cast<int>(node)).output()) {
        if (output.name() == name) return std::nullopt;
      }
    }
    return reader;
  }

  bool has_bias(const NodeProto& add) const {
    const auto& constants = graph_.initializer();
    return std::any_of(constants.begin(), constants.end(), [&add](const auto& constant) {
      return constant.dims_size() == 1 && std::find(add.input().begin(), add.input().end(),
                                                    constant.name()) != add.input().end();
    });
  }

  void add_reasons(const OnnxModel& model, const std::map<int, std::string>& why) {
    for (const auto& [index, reason] : why) {
      const NodeProto& node = model.graph().node(index);
      const auto add = [&, &text = reason](const Numbers& numbers, const std::string& key) {
        const auto found = numbers.find(key);
        if (found == numbers.end()) return;
        for (const std::size_t own : found->second) reasons_.emplace(own, text);
      };
      if (node.output_size() != 0) add(by_output_, node.output(0));
      add(by_name_, node.name());
    }
  }

  using Numbers = std::unordered_map<std::string, std::vector<std::size_t>>;

  const GraphProto& graph_;
  std::map<std::size_t, std::string> reasons_;
  const std::vector<std::pair<std::size_t, std::size_t>> edges_;
  Numbers by_output_, by_name_;       // of the nodes' first outputs, and of their names
  std::vector<std::size_t> unit_of_;  // of each node: that of its group, else its own
  std::vector<std::vector<std::size_t>> groups_;
  std::vector<std::size_t> programs_;
  std::vector<HostLayer> between_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
  Indices claimed_;
};

}  // namespace

Indices closed(const GraphProto& graph, Indices nodes) {
  if (nodes.empty()) return nodes;
  const auto first = static_cast<int>(*nodes.begin());
  const auto last = static_cast<int>(*nodes.rbegin());
  std::set<std::string> after;  // values that depend on one of them
  Indices reached = nodes;
  for (int i = first; i <= last; ++i) {
    const NodeProto& node = graph.node(i);
    const auto& inputs = node.input();
    if (nodes.count(static_cast<std::size_t>(i)) == 0 &&
        std::none_of(inputs.begin(), inputs.end(),
                     [&](const std::string& name) { return after.count(name) != 0; })) {
      continue;
    }
    reached.insert(static_cast<std::size_t>(i));
    for (const std::string& name : node.output()) after.insert(name);
  }
  std::set<std::string> before;  // values that one of them depends on
  for (int i = last; i >= first; --i) {
    const NodeProto& node = graph.node(i);
    const auto& outputs = node.output();
    const auto index = static_cast<std::size_t>(i);
    const bool reaches = nodes.count(index) != 0 ||
                         std::any_of(outputs.begin(), outputs.end(), [&](const std::string& name) {
                           return before.count(name) != 0;
                         });
    if (!reaches) continue;
    before.insert(node.input().begin(), node.input().end());
    if (reached.count(index) != 0) nodes.insert(index);
  }
  return nodes;
}

std::vector<DeviceWork> work_of_device(const OnnxModel& model, const Executable& executable) {
  std::vector<DeviceWork> work;
  Indices listed;
  for (const DeviceProgram& program : executable.plan.programs) {
    work.push_back({{}, work.size() + 1});
    Indices& nodes = work.back().nodes;
    for (const DeviceLayer& layer : program.layers) {
      for (const int node : layer.nodes()) nodes.insert(static_cast<std::size_t>(node));
    }
  }
  for (const PassItem& item : executable.order) {
    if (item.kind != PassItem::Kind::kSums) continue;
    work.push_back({{item.nodes.begin(), item.nodes.end()}, executable.number_of_sums(item.index)});
    listed.insert(item.nodes.begin(), item.nodes.end());
  }
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const NodeProto& node = model.graph().node(i);
    const auto index = static_cast<std::size_t>(i);
    const bool sums = executable.plan.sums.count(i) != 0 && listed.count(index) == 0;
    const bool floats = is_float_product(node) && executable.plan.on_host.count(i) == 0 &&
                        why_on_host(model, node).empty();
    if ((sums && linear_product(model, node)) || floats) work.push_back({{index}, 0});
  }
  return work;
}

ModelProto with_sizes(ModelProto graph, const NamedSizes& known, std::int64_t first,
                      std::int64_t size) {
  NamedSizes named = known;
  std::set<std::string> opaque;
  for (const NodeProto& node : graph.graph().node()) {
    if (node.domain() != ort::kOpaqueDomain) continue;
    opaque.insert(node.output().begin(), node.output().end());
  }
  const auto set = [&](onnx::ValueInfoProto& value) {
    if (!value.type().tensor_type().has_shape()) return;
    auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i) {
      auto& dim = *shape.mutable_dim(i);
      if (dim.has_dim_value() && dim.dim_value() >= 0) continue;
      const std::int64_t own = i == 0 ? first : size;
      const std::int64_t chosen =
          dim.dim_param().empty() ? own : named.emplace(dim.dim_param(), own).first->second;
      dim.set_dim_value(chosen);
    }
  };
  GraphProto& own = *graph.mutable_graph();
  for (auto& input : *own.mutable_input()) set(input);
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> kept;
  for (auto& value : *own.mutable_value_info()) {
    if (opaque.count(value.name()) == 0) continue;  // the compiler infers the others
    set(value);
    kept.Add()->Swap(&value);
  }
  own.mutable_value_info()->Swap(&kept);
  for (auto& output : *own.mutable_output()) {
    // Sizes that are open would be checked against those chosen.
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
  return graph;
}

Partition partition(const ModelProto& graph, const Geometry& geometry,
                    const CompileOptions& options, const NamedSizes& sizes) {
  constexpr std::int64_t kSize = 32;
  // One image of such sizes; where the first size is none of images, or a map becomes too small.
  constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {{1, kSize}, {kSize, kSize}, {1, 1}};
  std::map<std::size_t, std::string> opaque;
  ModelProto known = with_opaque_nodes(graph, opaque);
  for (;;) {
    std::string why;
    for (const auto& [first, size] : kSizes) {
      try {
        Partitioner partitioner(known, opaque);
        partitioner.run(with_sizes(known, sizes, first, size), geometry, options);
        return partitioner.finish();
      } catch (const std::exception& error) {
        if (why.empty()) why = error.what();
      }
    }
    if (make_opaque_if_named(known, why, opaque)) continue;
    Partitioner partitioner(known, opaque);
    partitioner.refuse_all(why);
    return partitioner.finish();
  }
}

}  // namespace gemm64::ep

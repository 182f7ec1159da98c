// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/graph_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <queue>
#include <set>

#include "host/graph/onnx/model.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

std::atomic<std::uint64_t> checked{0};

/// The domains of a model and their versions; ONNX's own is "".
Opsets opsets(const onnx::ModelProto& model, const std::string& file) {
  Opsets versions;
  for (const onnx::OperatorSetIdProto& import : model.opset_import()) {
    const std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    if (import.version() < 1) {
      throw UsageError(fmt::format("{}: opset {} of domain '{}' does not exist", file,
                                   import.version(), printable(domain)));
    }
    const auto [known, is_new] = versions.emplace(domain, import.version());
    if (!is_new && known->second != import.version()) {
      throw UsageError(
          fmt::format("{}: imports two opsets of domain '{}'", file, printable(domain)));
    }
  }
  // Files of the first days do not tell; they mean the first opset.
  if (model.opset_import().empty() && model.ir_version() < 3) versions[""] = 1;
  const auto found = versions.find("");
  if (found == versions.end()) {
    // Models of only other domains' operators need none.
    const auto& nodes = model.graph().node();
    const bool needed = std::any_of(nodes.begin(), nodes.end(), [](const onnx::NodeProto& node) {
      return node.domain().empty() || node.domain() == "ai.onnx";
    });
    if (needed) {
      throw UsageError(fmt::format("{}: does not say which opset of ONNX it uses", file));
    }
  }
  return versions;
}

/// Where each value of a graph comes from.
struct Names {
  std::set<std::string> given;          // inputs and initializers
  std::map<std::string, int> producer;  // the node, by its index
};

Names collect_names(const onnx::GraphProto& graph, const std::string& file) {
  Names names;
  std::set<std::string> inputs;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (input.name().empty()) throw UsageError(fmt::format("{}: an input has no name", file));
    if (!inputs.insert(input.name()).second) {
      throw UsageError(
          fmt::format("{}: two inputs are called '{}'", file, printable(input.name())));
    }
  }
  const auto add_initializer = [&](const std::string& name) {
    if (name.empty()) throw UsageError(fmt::format("{}: an initializer has no name", file));
    if (!names.given.insert(name).second) {
      throw UsageError(fmt::format("{}: two initializers are called '{}'", file, printable(name)));
    }
  };
  for (const onnx::TensorProto& tensor : graph.initializer()) add_initializer(tensor.name());
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    add_initializer(tensor.values().name());
  }
  names.given.insert(inputs.begin(), inputs.end());
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty()) continue;  // an optional output that is not wanted
      if (names.given.count(output) != 0 || !names.producer.emplace(output, i).second) {
        throw UsageError(fmt::format("{}: node '{}' produces '{}', which exists already", file,
                                     node_label(graph.node(i), i), printable(output)));
      }
    }
  }
  return names;
}

/// Calls `use` with each name that a node reads, the nodes of its subgraphs included, but for names
/// that these make themselves: a branch may call its output as the If calls its own. What the outer
/// graph does not know is left to ONNX Runtime.
void each_input(const onnx::NodeProto& node, bool nested,
                const std::function<void(const std::string&, bool)>& use) {
  for (const std::string& input : node.input()) {
    if (!input.empty()) use(input, nested);
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const auto descend = [&use](const onnx::GraphProto& graph) {
      std::set<std::string> own;
      for (const onnx::ValueInfoProto& input : graph.input()) own.insert(input.name());
      for (const onnx::TensorProto& tensor : graph.initializer()) own.insert(tensor.name());
      for (const onnx::NodeProto& inner : graph.node()) {
        own.insert(inner.output().begin(), inner.output().end());
      }
      const auto use_outer = [&](const std::string& name, bool) {
        if (own.count(name) == 0) use(name, true);
      };
      for (const onnx::NodeProto& inner : graph.node()) each_input(inner, true, use_outer);
      for (const onnx::ValueInfoProto& output : graph.output()) use_outer(output.name(), true);
    };
    if (attribute.has_g()) descend(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) descend(graph);
  }
}

/// The nodes that must run before each node: sorted, without duplicates.
using Dependencies = std::vector<std::vector<int>>;

Dependencies dependencies(const onnx::GraphProto& graph, const Names& names,
                          const std::string& file) {
  Dependencies before(static_cast<std::size_t>(graph.node_size()));
  for (int i = 0; i < graph.node_size(); ++i) {
    std::vector<int>& list = before[static_cast<std::size_t>(i)];
    each_input(graph.node(i), false, [&](const std::string& input, bool nested) {
      const auto found = names.producer.find(input);
      if (found != names.producer.end()) {
        list.push_back(found->second);
      } else if (!nested && names.given.count(input) == 0) {
        throw UsageError(fmt::format("{}: node '{}' reads '{}', which nothing produces", file,
                                     node_label(graph.node(i), i), printable(input)));
      }
    });
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return before;
}

/// Does each node follow those that it depends on?
bool in_order(const Dependencies& before) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    // Each list is sorted.
    if (!before[i].empty() && static_cast<std::size_t>(before[i].back()) >= i) return false;
  }
  return true;
}

/// Puts the nodes into an order in which they can run.
void sort_nodes(onnx::GraphProto& graph, const Dependencies& before, const std::string& file) {
  Dependencies after(before.size());
  std::vector<std::size_t> missing(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    missing[i] = before[i].size();
    for (const int j : before[i]) after[static_cast<std::size_t>(j)].push_back(static_cast<int>(i));
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const int j : after[static_cast<std::size_t>(next)]) {
      if (--missing[static_cast<std::size_t>(j)] == 0) ready.push(j);
    }
  }
  if (order.size() != before.size()) {
    const auto stuck = std::find_if(missing.begin(), missing.end(), [](auto m) { return m != 0; });
    const int index = static_cast<int>(stuck - missing.begin());
    throw UsageError(fmt::format("{}: its nodes form a cycle; node '{}' depends on its own output",
                                 file, node_label(graph.node(index), index)));
  }
  std::vector<onnx::NodeProto*> nodes(order.size());
  graph.mutable_node()->ExtractSubrange(0, graph.node_size(), nodes.data());
  for (const int index : order) {
    graph.mutable_node()->AddAllocated(nodes[static_cast<std::size_t>(index)]);
  }
}

/// Its domain is one of the file's, and tensors in its attributes have their data in the file.
void check_node(const onnx::NodeProto& node, int index, const Opsets& versions,
                const std::string& file) {
  const std::string where =
      fmt::format("{}: node '{}' ({})", file, node_label(node, index), printable(node.op_type()));
  if (versions.count(node.domain()) == 0) {
    throw UsageError(fmt::format("{}: the file does not say which opset of domain '{}' it uses",
                                 where, printable(node.domain())));
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_t()) continue;
    const std::string here = fmt::format("{}: attribute '{}'", where, printable(attribute.name()));
    check_data(attribute.t(), false, here);
    if (attribute.t().data_location() == onnx::TensorProto::EXTERNAL) {
      throw UsageError(fmt::format("{}: only initializers may have external data", here));
    }
  }
}

void put_in_order(onnx::GraphProto& graph, const Names& names, const std::string& file) {
  const Dependencies before = dependencies(graph, names, file);
  if (!in_order(before)) sort_nodes(graph, before, file);
}

void check_tensors(const onnx::GraphProto& graph, bool shapes_only, const std::string& file) {
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    check_data(tensor, shapes_only,
               fmt::format("{}: initializer '{}'", file, printable(tensor.name())));
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    const std::string where =
        fmt::format("{}: sparse initializer '{}'", file, printable(tensor.values().name()));
    check_data(tensor.values(), shapes_only, where);
    check_data(tensor.indices(), shapes_only, where);
    checked_type(tensor.values().data_type(), {tensor.dims().begin(), tensor.dims().end()}, where);
  }
}

void check_outputs(const onnx::GraphProto& graph, const Names& names, const std::string& file) {
  if (graph.output().empty()) throw UsageError(fmt::format("{}: the graph has no output", file));
  std::set<std::string> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) {
    if (!outputs.insert(output.name()).second) {
      throw UsageError(
          fmt::format("{}: two outputs are called '{}'", file, printable(output.name())));
    }
    if (names.given.count(output.name()) == 0 && names.producer.count(output.name()) == 0) {
      throw UsageError(fmt::format("{}: nothing produces the graph's output '{}'", file,
                                   printable(output.name())));
    }
  }
}

/// All but the order of the nodes and what their operators ask for.
Names check_parts(const onnx::ModelProto& model, bool shapes_only, const std::string& file) {
  const Names names = collect_names(model.graph(), file);
  check_tensors(model.graph(), shapes_only, file);
  check_outputs(model.graph(), names, file);
  return names;
}

void require_graph(const onnx::ModelProto& model, const std::string& file) {
  if (!model.has_graph()) {
    throw UsageError(fmt::format("{}: holds no graph; it is not an ONNX model", file));
  }
}

}  // namespace

std::uint64_t graphs_checked() { return checked; }

Opsets check_graph(onnx::ModelProto& model, bool shapes_only, const std::string& file) {
  ++checked;
  require_graph(model, file);
  const Opsets versions = opsets(model, file);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (node.domain() == "ai.onnx") node.clear_domain();
  }
  const Names names = check_parts(model, shapes_only, file);
  put_in_order(graph, names, file);
  for (int i = 0; i < graph.node_size(); ++i) check_node(graph.node(i), i, versions, file);
  return versions;
}

Opsets order_graph(onnx::ModelProto& model, const std::string& file) {
  put_in_order(*model.mutable_graph(), collect_names(model.graph(), file), file);
  return opsets(model, file);
}

void require_valid(const onnx::ModelProto& model, const std::string& file) {
  require_graph(model, file);
  const Names names = check_parts(model, true, file);
  if (!in_order(dependencies(model.graph(), names, file))) {
    throw UsageError(fmt::format("{}: a node comes before one whose output it reads", file));
  }
  if (model.ir_version() < 1) throw UsageError(fmt::format("{}: has no ir_version", file));
  opsets(model, file);
}

}  // namespace gemm64

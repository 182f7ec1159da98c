// SPDX-License-Identifier: Apache-2.0
#include "host/onnx/functions.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/onnx/model.hpp"
#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kMaxNodes = 200'000;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxDepth = 200;

using Names = std::map<std::string, std::string>;
using Attributes = std::map<std::string, const onnx::AttributeProto*>;

/// Gives values names that the graph does not have.
class FreshNames {
 public:
  explicit FreshNames(const onnx::GraphProto& graph) { add(graph); }

  std::string make(const std::string& like) {
    std::string name = like;
    while (!taken_.insert(name).second) name = fmt::format("{}_{}", like, ++count_);
    return name;
  }

 private:
  void add(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& input : graph.input()) taken_.insert(input.name());
    for (const onnx::TensorProto& tensor : graph.initializer()) taken_.insert(tensor.name());
    for (const onnx::NodeProto& node : graph.node()) {
      taken_.insert(node.output().begin(), node.output().end());
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) add(attribute.g());
      }
    }
  }

  std::set<std::string> taken_;
  std::size_t count_ = 0;
};

std::string renamed(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

void take_names(onnx::NodeProto& node, const Names& names, const Attributes* given);

/// What a subgraph reads of the graph around it gets its new name; what it makes itself keeps its.
void take_names(onnx::GraphProto& graph, const Names& names, const Attributes* given) {
  for (onnx::NodeProto& node : *graph.mutable_node()) take_names(node, names, given);
  for (onnx::ValueInfoProto& output : *graph.mutable_output()) {
    output.set_name(renamed(names, output.name()));
  }
}

/// Gives a node's values their new names, and its attributes that refer to those of a call
/// (`given`; nullptr: there is no call) their values.
void take_names(onnx::NodeProto& node, const Names& names, const Attributes* given) {
  for (std::string& name : *node.mutable_input()) name = renamed(names, name);
  for (std::string& name : *node.mutable_output()) name = renamed(names, name);
  for (int i = node.attribute_size(); i-- > 0;) {
    onnx::AttributeProto& attribute = *node.mutable_attribute(i);
    if (given != nullptr && !attribute.ref_attr_name().empty()) {
      const auto found = given->find(attribute.ref_attr_name());
      if (found == given->end()) {  // left out by the caller: the operator's own default holds
        node.mutable_attribute()->DeleteSubrange(i, 1);
        continue;
      }
      const std::string name = attribute.name();
      attribute = *found->second;
      attribute.set_name(name);
    }
    if (attribute.has_g()) take_names(*attribute.mutable_g(), names, given);
  }
}

class Inliner {
 public:
  Inliner(onnx::ModelProto& model, const std::string& file)
      : model_(model), file_(file), fresh_(model.graph()) {
    for (const onnx::FunctionProto& function : model.functions()) {
      functions_[{function.domain(), function.name(), function.overload()}] = &function;
    }
  }

  void run() {
    std::vector<onnx::NodeProto> nodes;
    for (onnx::NodeProto& node : *model_.mutable_graph()->mutable_node()) {
      add(std::move(node), 0, nodes);
    }
    model_.mutable_graph()->clear_node();
    for (onnx::NodeProto& node : nodes) *model_.mutable_graph()->add_node() = std::move(node);
    model_.clear_functions();
  }

 private:
  UsageError wrong(const onnx::FunctionProto& function, const std::string& why) const {
    return UsageError(fmt::format("{}: function {}.{}: {}", file_, printable(function.domain()),
                                  printable(function.name()), why));
  }

  /// The node, or what it calls, behind `nodes`.
  void add(onnx::NodeProto node, std::size_t depth, std::vector<onnx::NodeProto>& nodes) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) add_inside(*attribute.mutable_g(), depth);
    }
    const auto found = functions_.find({node.domain(), node.op_type(), node.overload()});
    if (found == functions_.end()) {
      if (depth > 0) bytes_ += node.ByteSizeLong();
      if (++made_ > kMaxNodes || bytes_ > kMaxBytes) {
        throw UsageError(fmt::format("{}: its functions make more than {} nodes, or {} bytes",
                                     file_, kMaxNodes, kMaxBytes));
      }
      nodes.push_back(std::move(node));
      return;
    }
    // A chain of calls that is longer than there are functions calls one of them twice.
    if (depth >= functions_.size()) throw wrong(*found->second, "it calls itself");
    if (depth >= kMaxDepth) {
      throw wrong(*found->second,
                  fmt::format("it stands below {} others that call each other", depth));
    }
    call(*found->second, node, depth, nodes);
  }

  void add_inside(onnx::GraphProto& graph, std::size_t depth) {
    std::vector<onnx::NodeProto> nodes;
    for (onnx::NodeProto& node : *graph.mutable_node()) add(std::move(node), depth, nodes);
    graph.clear_node();
    for (onnx::NodeProto& node : nodes) *graph.add_node() = std::move(node);
  }

  void call(const onnx::FunctionProto& function, const onnx::NodeProto& caller, std::size_t depth,
            std::vector<onnx::NodeProto>& nodes) {
    if (++calls_ > kMaxNodes)
      throw wrong(function, fmt::format("it is called more than {} times", kMaxNodes));
    if (caller.input_size() > function.input_size() ||
        caller.output_size() > function.output_size()) {
      throw wrong(function,
                  fmt::format("it has {} inputs and {} outputs, and is called with {} and {}",
                              function.input_size(), function.output_size(), caller.input_size(),
                              caller.output_size()));
    }
    import_opsets(function);
    Attributes given;
    for (const onnx::AttributeProto& attribute : function.attribute_proto()) {
      given[attribute.name()] = &attribute;
    }
    for (const onnx::AttributeProto& attribute : caller.attribute()) {
      given[attribute.name()] = &attribute;
    }
    Names names;
    for (int i = 0; i < function.input_size(); ++i) {
      names[function.input(i)] = i < caller.input_size() ? caller.input(i) : "";
    }
    const std::string label = caller.name().empty() ? caller.op_type() : caller.name();
    std::vector<std::pair<std::string, std::string>> passed;  // an input that is an output
    for (int i = 0; i < caller.output_size(); ++i) {
      if (caller.output(i).empty()) continue;
      const auto [at, added] = names.try_emplace(function.output(i), caller.output(i));
      if (!added) passed.emplace_back(at->second, caller.output(i));
    }
    for (const onnx::NodeProto& inner : function.node()) {
      for (const std::string& output : inner.output()) {
        if (!output.empty() && names.count(output) == 0) {
          names[output] = fresh_.make(label + "/" + output);
        }
      }
    }
    for (const onnx::NodeProto& inner : function.node()) {
      onnx::NodeProto node = inner;
      node.set_name(label + "/" + (inner.name().empty() ? inner.op_type() : inner.name()));
      take_names(node, names, &given);
      add(std::move(node), depth + 1, nodes);
    }
    for (const auto& [from, to] : passed) {
      onnx::NodeProto same;
      same.set_op_type("Identity");
      same.set_name(label + "/" + to);
      same.add_input(from);
      same.add_output(to);
      add(std::move(same), depth + 1, nodes);
    }
  }

  /// The file has the function's opsets too.
  void import_opsets(const onnx::FunctionProto& function) {
    for (const onnx::OperatorSetIdProto& wanted : function.opset_import()) {
      const std::string domain = wanted.domain() == "ai.onnx" ? "" : wanted.domain();
      bool known = false;
      for (const onnx::OperatorSetIdProto& own : model_.opset_import()) {
        if ((own.domain() == "ai.onnx" ? "" : own.domain()) != domain) continue;
        known = true;
        if (domain.empty() && own.version() != wanted.version()) {
          throw wrong(
              function,
              fmt::format("it is for opset {}, the file for opset {}; both must be the same",
                          wanted.version(), own.version()));
        }
      }
      if (!known) *model_.add_opset_import() = wanted;
    }
  }

  onnx::ModelProto& model_;
  const std::string& file_;
  FreshNames fresh_;
  std::map<std::tuple<std::string, std::string, std::string>, const onnx::FunctionProto*>
      functions_;
  std::size_t made_ = 0, calls_ = 0, bytes_ = 0;
};

/// The value of a condition: a bool of one element. Empty where it is none.
std::optional<bool> condition(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::BOOL) return std::nullopt;
  const auto values = integer_values(tensor, 1);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front() != 0;
}

}  // namespace

void inline_functions(onnx::ModelProto& model, const std::string& file) {
  if (model.functions().empty() || !model.has_graph()) return;
  Inliner(model, file).run();
}

void take_known_branches(onnx::ModelProto& model) {
  if (!model.has_graph()) return;
  onnx::GraphProto& graph = *model.mutable_graph();
  bool any = false;
  for (const onnx::NodeProto& node : graph.node()) any = any || node.op_type() == "If";
  if (!any) return;
  std::map<std::string, bool> known;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (const auto value = condition(tensor)) known[tensor.name()] = *value;
  }
  FreshNames fresh(graph);
  std::vector<onnx::NodeProto> rest(graph.node().rbegin(),
                                    graph.node().rend());  // the next is last
  graph.clear_node();
  while (!rest.empty()) {
    onnx::NodeProto node = std::move(rest.back());
    rest.pop_back();
    if (node.op_type() == "Constant" && node.domain().empty() && node.output_size() == 1) {
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        const auto value = attribute.name() == "value" && attribute.has_t()
                               ? condition(attribute.t())
                               : std::nullopt;
        if (value) known[node.output(0)] = *value;
      }
    }
    const bool is_if = node.op_type() == "If" && node.domain().empty() && node.input_size() == 1;
    const auto taken = is_if ? known.find(node.input(0)) : known.end();
    const onnx::GraphProto* branch = nullptr;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (taken == known.end() || !attribute.has_g()) continue;
      if (attribute.name() == (taken->second ? "then_branch" : "else_branch"))
        branch = &attribute.g();
    }
    if (branch == nullptr || branch->output_size() != node.output_size() ||
        branch->input_size() != 0) {
      *graph.add_node() = std::move(node);
      continue;
    }
    Names names;
    for (const onnx::NodeProto& inner : branch->node()) {
      for (const std::string& output : inner.output()) {
        if (!output.empty())
          names[output] = fresh.make((node.name().empty() ? "If" : node.name()) + "/" + output);
      }
    }
    for (const onnx::TensorProto& tensor : branch->initializer()) {
      names[tensor.name()] =
          fresh.make((node.name().empty() ? "If" : node.name()) + "/" + tensor.name());
      *graph.add_initializer() = tensor;
      graph.mutable_initializer(graph.initializer_size() - 1)->set_name(names[tensor.name()]);
      if (const auto value = condition(tensor)) known[names[tensor.name()]] = *value;
    }
    std::vector<onnx::NodeProto> inside;
    for (const onnx::NodeProto& inner : branch->node()) {
      inside.push_back(inner);
      take_names(inside.back(), names, nullptr);
    }
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      onnx::NodeProto same;
      same.set_op_type("Identity");
      same.add_input(renamed(names, branch->output(i).name()));
      same.add_output(node.output(i));
      inside.push_back(same);
    }
    // Branches inside of this one are taken as well.
    rest.insert(rest.end(), inside.rbegin(), inside.rend());
  }
}

}  // namespace gemm64

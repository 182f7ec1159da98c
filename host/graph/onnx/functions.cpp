// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/functions.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/renaming.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kMaxNodes = 200'000;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxDepth = 200;

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

  /// Appends the node, or what it calls, to `nodes`.
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
          names[output] = fresh_.make(fmt::format("{}/{}", label, output));
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
      same.set_name(fmt::format("{}/{}", label, to));
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

}  // namespace

void inline_functions(onnx::ModelProto& model, const std::string& file) {
  if (model.functions().empty() || !model.has_graph()) return;
  Inliner(model, file).run();
}

}  // namespace gemm64

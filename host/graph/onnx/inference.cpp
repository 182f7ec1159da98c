// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <set>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/layer_check.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/ort/analysis.hpp"
#include "host/ort/library.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

/// Constants of more values are weights, of which nothing depends but results.
constexpr std::int64_t kMostValues = 4096;
/// The newest version of the file format that all of ONNX Runtime's versions read, and the oldest
/// in which constants need not be inputs; others differ in nothing that is here.
constexpr std::int64_t kOldestFormat = 4, kReadFormat = 10;

/// Domains of operators that every library of ONNX Runtime knows.
constexpr std::array<const char*, 3> kDomains = {"", "com.microsoft", "ai.onnx.ml"};

bool has_known_domain(const NodeProto& node) {
  return std::find(kDomains.begin(), kDomains.end(), node.domain()) != kDomains.end();
}

/// A node's name in the model that ONNX Runtime reads: its index, of which there is one.
std::string name_of_node(int index) { return fmt::format("gemm64.node.{}", index); }
const std::regex& node_pattern() {
  static const std::regex pattern(R"(gemm64\.node\.([0-9]{1,9}))");
  return pattern;
}

/// The index of the node that a message of ONNX Runtime names; empty if it names none.
std::optional<int> named_node(const std::string& message, const GraphProto& graph) {
  std::smatch found;
  if (!std::regex_search(message, found, node_pattern())) return std::nullopt;
  const int index = std::stoi(found[1].str());
  return index < graph.node_size() ? std::optional(index) : std::nullopt;
}

void set_type(onnx::ValueInfoProto& value, int data_type, const std::vector<std::int64_t>& dims) {
  onnx::TypeProto::Tensor& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(data_type);
  tensor.mutable_shape()->clear_dim();
  for (const std::int64_t dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

/// Some exporters leave a size open as -1.
void leave_open(onnx::ValueInfoProto& value) {
  if (!value.type().tensor_type().has_shape()) return;
  for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_dim_value();
  }
}

bool has_element_type(const onnx::ValueInfoProto& value) {
  return value.type().has_tensor_type() &&
         value.type().tensor_type().elem_type() != TensorProto::UNDEFINED;
}

bool is_small(const TensorProto& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : tensor.dims()) {
    const auto product = checked_product(elements, dim);
    if (!product) return false;
    elements = *product;
  }
  return elements <= kMostValues && tensor.data_location() != TensorProto::EXTERNAL &&
         has_data(tensor);
}

/// The tensor of a Constant node, or nullptr.
const TensorProto* constant_of(const NodeProto& node) {
  if (node.op_type() != "Constant" || !node.domain().empty() || node.output_size() != 1) {
    return nullptr;
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) return &attribute.t();
  }
  return nullptr;
}

/// The model that ONNX Runtime reads: every value is an output, so that none is optimized away, and
/// weights are inputs.
class Question {
 public:
  /// `outside`: nodes that are left out, by index.
  Question(const onnx::ModelProto& model, const DeclaredValues& declared, const ValueFacts& facts,
           const std::set<int>& outside)
      : from_(model.graph()), declared_(declared), facts_(facts) {
    made_.set_ir_version(std::clamp<std::int64_t>(model.ir_version(), kOldestFormat, kReadFormat));
    add_opsets(model);
    GraphProto& graph = *made_.mutable_graph();
    graph.set_name("graph");
    add_constants();
    for (const onnx::ValueInfoProto& input : from_.input()) {
      if (given_.count(input.name()) == 0) add_input(input.name(), &input);
    }
    for (int i = 0; i < from_.node_size(); ++i) add_node(i, outside.count(i) != 0);
    if (graph.node().empty()) return;
    add_constant_node();
    for (const NodeProto& node : graph.node()) {
      for (const std::string& name : node.output()) {
        if (!name.empty()) graph.add_output()->set_name(name);
      }
    }
  }

  onnx::ModelProto& model() { return made_; }

 private:
  void add_opsets(const onnx::ModelProto& model) {
    *made_.mutable_opset_import() = model.opset_import();
    for (const char* const domain : {"", "com.microsoft"}) {
      const auto& known = made_.opset_import();
      const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto& opset) {
        return opset.domain() == domain || (*domain == '\0' && opset.domain() == "ai.onnx");
      });
      if (is_known) continue;
      onnx::OperatorSetIdProto& opset = *made_.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(*domain == '\0' ? 13 : 1);
    }
  }

  /// A node that is computed ahead: of a graph in which nothing is, ONNX Runtime hands back the
  /// outputs as they came, without types.
  void add_constant_node() {
    constexpr const char* kInput = "gemm64.constant";
    TensorProto& constant = *made_.mutable_graph()->add_initializer();
    constant.set_name(kInput);
    constant.set_data_type(TensorProto::FLOAT);
    constant.add_dims(1);
    constant.add_float_data(0);
    NodeProto& node = *made_.mutable_graph()->add_node();
    node.set_op_type("Shape");
    node.add_input(kInput);
    node.add_output("gemm64.shape");
  }

  void add_constants() {
    GraphProto& graph = *made_.mutable_graph();
    for (const TensorProto& tensor : from_.initializer()) {
      given_.insert(tensor.name());
      if (is_small(tensor)) {
        *graph.add_initializer() = tensor;
      } else {
        add_weights(tensor.name(), tensor.data_type(), tensor.dims());
      }
    }
    for (const onnx::SparseTensorProto& tensor : from_.sparse_initializer()) {
      given_.insert(tensor.values().name());
      add_weights(tensor.values().name(), tensor.values().data_type(), tensor.dims());
    }
  }

  template <class Sizes>
  void add_weights(const std::string& name, int data_type, const Sizes& dims) {
    onnx::ValueInfoProto& input = *made_.mutable_graph()->add_input();
    input.set_name(name);
    set_type(input, data_type, {dims.begin(), dims.end()});
  }

  /// A value that no node makes, of the type that is known or else declared.
  void add_input(const std::string& name, const onnx::ValueInfoProto* declared) {
    onnx::ValueInfoProto& input = *made_.mutable_graph()->add_input();
    if (declared != nullptr) input = *declared;
    input.set_name(name);
    leave_open(input);
    const auto known = facts_.types.find(name);
    if (known != facts_.types.end()) set_type(input, known->second.data_type, known->second.dims);
  }

  void add_node(int index, bool is_outside) {
    const NodeProto& node = from_.node(index);
    if (const TensorProto* const constant = constant_of(node)) {
      if (!is_small(*constant)) {
        return add_weights(node.output(0), constant->data_type(), constant->dims());
      }
    }
    if (is_outside || !is_known(node)) return leave_out(node);
    NodeProto& copy = *made_.mutable_graph()->add_node();
    copy = node;
    copy.set_name(name_of_node(index));
    name_bodies(copy);
    for (const ValueFacts::Replacement& one : facts_.replacements) {
      if (one.node != index) continue;
      copy.set_input(one.input, one.constant);
      *made_.mutable_graph()->add_initializer() =
          integer_tensor(one.constant, facts_.integers.at(one.constant));
    }
  }

  /// ONNX Runtime demands names of graphs, which some exporters leave out.
  static void name_bodies(NodeProto& node) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      if (attribute.g().name().empty()) attribute.mutable_g()->set_name("body");
      for (NodeProto& inner : *attribute.mutable_g()->mutable_node()) name_bodies(inner);
    }
  }

  bool is_known(const NodeProto& node) const {
    if (!has_known_domain(node)) return false;
    std::set<std::string> read(node.input().begin(), node.input().end());
    add_inner_reads(node, read);
    return std::none_of(read.begin(), read.end(),
                        [this](const auto& name) { return unknown_.count(name) != 0; });
  }

  void leave_out(const NodeProto& node) {
    for (const std::string& name : node.output()) {
      if (name.empty()) continue;
      const auto found = declared_.find(name);
      if (facts_.types.count(name) != 0) {
        add_input(name, nullptr);
      } else if (found != declared_.end() && has_element_type(found->second)) {
        add_input(name, &found->second);
      } else {
        unknown_.insert(name);
      }
    }
  }

  const GraphProto& from_;
  const DeclaredValues& declared_;
  const ValueFacts& facts_;
  onnx::ModelProto made_;
  std::set<std::string> given_;
  std::set<std::string> unknown_;  // outputs of nodes that are left out
};

void require_library() {
  try {
    ort::own_library();
  } catch (const ort::Error& error) {  // which has the remedy
    throw UsageError(printable(error.what(), 1000));
  }
}

std::string place_of(const NodeProto& node, int index, const std::string& file) {
  return fmt::format("{}: node '{}' ({})", file, node_label(node, index),
                     printable(node.op_type()));
}

/// ONNX Runtime's message about a model, with the file's names of nodes.
UsageError refusal(const GraphProto& graph, const std::string& file, const std::string& message) {
  constexpr std::size_t kMost = 1000;
  std::string text = message.substr(0, 2 * kMost);  // expressions take stack for each character
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::optional<int> index = named_node(text, graph);
  if (!index) return UsageError(fmt::format("{}: ONNX Runtime: {}", file, printable(text, kMost)));
  static const std::regex newer(R"(No Op registered for (\w+) with domain_version of (\d+))");
  std::smatch version;
  if (std::regex_search(text, version, newer)) {
    return UsageError(fmt::format(
        "{}: ONNX Runtime {} has no {} of opset {}: export the model for an older opset, or name a "
        "newer library with GEMM64_ONNXRUNTIME",
        place_of(graph.node(*index), *index, file), ort::own_library().api().release(),
        version[1].str(), version[2].str()));
  }
  // "Node (n) Op (Conv) [ShapeInferenceError] reason", "... node (n) is invalid"
  static const std::regex before(R"(^.*\[(Shape|Type)InferenceError\] *(\([^)]*\) *)*)");
  std::string reason = std::regex_replace(text, before, "");
  reason = std::regex_replace(reason, node_pattern(), "node");
  return UsageError(
      fmt::format("{}: {}", place_of(graph.node(*index), *index, file), printable(reason, kMost)));
}

void take_answer(const onnx::ModelProto& answer, const std::string& file, ValueFacts& facts) {
  for (const onnx::ValueInfoProto& output : answer.graph().output()) {
    const onnx::TypeProto::Tensor& tensor = output.type().tensor_type();
    if (!has_element_type(output) || !tensor.has_shape()) continue;
    std::vector<std::int64_t> dims;
    for (const auto& dim : tensor.shape().dim()) {
      dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    }
    if (std::any_of(dims.begin(), dims.end(), [](std::int64_t size) { return size < 0; })) continue;
    facts.types[output.name()] = checked_type(
        tensor.elem_type(), dims, fmt::format("{}: value '{}'", file, printable(output.name())));
  }
  for (const TensorProto& tensor : answer.graph().initializer()) {
    if (facts.types.count(tensor.name()) != 0) facts.keep_value(tensor.name(), tensor);
  }
}

/// Why the shapes of a node's outputs are not known.
std::string why_not_known(const NodeProto& node, const ValueFacts& facts) {
  const std::string name = fmt::format("{}{}{}", printable(node.domain()),
                                       node.domain().empty() ? "" : ".", printable(node.op_type()));
  for (const std::string& input : node.input()) {
    if (input.empty() || facts.types.count(input) != 0) continue;
    const auto why = facts.unknown.find(input);
    return why != facts.unknown.end() ? why->second
                                      : fmt::format("nothing is known of '{}'", printable(input));
  }
  for (int i = 1; i < node.input_size(); ++i) {
    const std::string& input = node.input(i);
    if (input.empty() || facts.integers.count(input) != 0 || facts.values.count(input) != 0) {
      continue;
    }
    return fmt::format("the shape that {} makes depends on the values of '{}'", name,
                       printable(input));
  }
  return fmt::format("the shapes that operator {} makes are not inferred", name);
}

/// Fills in what is declared of values of which nothing else is known. Returns whether any was.
bool take_declared(const GraphProto& graph, const DeclaredValues& declared, const std::string& file,
                   ValueFacts& facts) {
  bool any = false;
  for (const NodeProto& node : graph.node()) {
    for (const std::string& output : node.output()) {
      const auto found = declared.find(output);
      if (found == declared.end() || facts.types.count(output) != 0 ||
          !has_element_type(found->second) || !found->second.type().tensor_type().has_shape()) {
        continue;
      }
      const auto& shape = found->second.type().tensor_type().shape();
      std::vector<std::int64_t> dims;
      for (const auto& dim : shape.dim())
        dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
      if (std::any_of(dims.begin(), dims.end(), [](std::int64_t size) { return size < 0; })) {
        continue;
      }
      facts.types[output] = checked_type(found->second.type().tensor_type().elem_type(), dims,
                                         fmt::format("{}: value '{}'", file, printable(output)));
      any = true;
    }
  }
  return any;
}

/// Is there a value of which nothing is known?
bool any_unknown(const GraphProto& graph, const ValueFacts& facts) {
  return std::any_of(graph.node().begin(), graph.node().end(), [&facts](const NodeProto& node) {
    return std::any_of(node.output().begin(), node.output().end(), [&facts](const auto& name) {
      return !name.empty() && facts.types.count(name) == 0;
    });
  });
}

void refuse(const NodeProto& node, const char* why, ValueFacts& facts) {
  if (node.output_size() != 0) facts.refused[node.output(0)] = why;
}

void ask(const onnx::ModelProto& model, const DeclaredValues& declared, const std::string& file,
         std::set<int>& outside, ValueFacts& facts) {
  const GraphProto& graph = model.graph();
  for (;;) {
    Question question(model, declared, facts, outside);
    if (question.model().graph().node().empty()) return;
    for (auto& output : *question.model().mutable_graph()->mutable_output()) {
      const auto known = facts.types.find(output.name());
      if (known != facts.types.end()) {
        set_type(output, known->second.data_type, known->second.dims);
      }
    }
    try {
      return take_answer(ort::analyze(question.model()), file, facts);
    } catch (const ort::Error& error) {
      // A node that there is no kernel for has the declared types.
      const std::optional<int> node = named_node(error.what(), graph);
      const bool is_outside =
          error.code() == ORT_NOT_IMPLEMENTED && node && outside.insert(*node).second;
      if (!is_outside) throw refusal(graph, file, error.what());
      refuse(graph.node(*node), "has no kernel in ONNX Runtime", facts);
    }
  }
}

/// Has a branch an If, too, directly or in branches of its own nodes?
bool has_nested_if(const NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto& attribute) {
    const auto& inner = attribute.g().node();
    return std::any_of(inner.begin(), inner.end(), [](const NodeProto& one) {
      return one.op_type() == "If" || has_nested_if(one);
    });
  });
}

/// Adds to `outside` each If of a constant condition that has other Ifs in it. ONNX Runtime (1.23
/// to 1.32) crashes when it computes conditions of both ahead and puts the branches in their place.
/// Its results remain unknown until its branch has replaced it.
void leave_out_nested_ifs(const onnx::ModelProto& model, const DeclaredValues& declared,
                          const std::string& file, const ValueFacts& facts,
                          std::set<int>& outside) {
  const GraphProto& graph = model.graph();
  std::set<int> nested;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (graph.node(i).op_type() == "If" && has_nested_if(graph.node(i))) nested.insert(i);
  }
  if (nested.empty()) return;
  ValueFacts without = facts;
  std::set<int> left = nested;
  ask(model, declared, file, left, without);
  for (const int i : nested) {
    const NodeProto& node = graph.node(i);
    if (node.input_size() != 0 && without.integers.count(node.input(0)) != 0) outside.insert(i);
  }
}

/// Finds the first pool of which ONNX Runtime infers other sizes than it computes. Returns whether
/// there is one, which is then left out.
bool correct_pool(const GraphProto& graph, const std::string& file, const ValueFacts& facts,
                  std::set<int>& outside, std::map<std::string, TensorType>& corrected) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const NodeProto& node = graph.node(i);
    if (outside.count(i) != 0 || node.output_size() == 0) continue;
    const auto type = facts.types.find(node.output(0));
    const auto dims = ceiled_pool(node, facts, place_of(node, i, file));
    if (!dims || type == facts.types.end() || type->second.dims == *dims) continue;
    corrected[node.output(0)] = {type->second.data_type, *dims};
    if (node.output_size() > 1) corrected[node.output(1)] = {TensorProto::INT64, *dims};
    outside.insert(i);
    return true;
  }
  return false;
}

}  // namespace

void infer_values(const onnx::ModelProto& model, const DeclaredValues& declared,
                  const std::string& file, ValueFacts& facts) {
  const GraphProto& graph = model.graph();
  if (graph.node().empty()) return;
  require_library();
  std::set<int> outside;
  leave_out_nested_ifs(model, declared, file, facts, outside);
  const ValueFacts given = facts;
  std::map<std::string, TensorType> corrected;
  do {
    std::map<std::string, std::string> refused = std::move(facts.refused);
    facts = given;
    facts.refused.insert(refused.begin(), refused.end());
    for (const auto& [name, type] : corrected) facts.types[name] = type;
    ask(model, declared, file, outside, facts);
    if (take_declared(graph, declared, file, facts) && any_unknown(graph, facts)) {
      ask(model, declared, file, outside, facts);
    }
  } while (correct_pool(graph, file, facts, outside, corrected));
  for (int i = 0; i < graph.node_size(); ++i) {
    const NodeProto& node = graph.node(i);
    if (!has_known_domain(node)) refuse(node, "is of a domain that ONNX Runtime lacks", facts);
    check_layer(node, facts, place_of(node, i, file));
    const std::string why = why_not_known(node, facts);
    for (const std::string& output : node.output()) {
      if (!output.empty() && facts.types.count(output) == 0) facts.unknown[output] = why;
    }
  }
}

}  // namespace gemm64

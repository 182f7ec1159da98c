// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/node_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/schema.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using onnx::AttributeProto;

/// Of the first versions of ONNX, experimental then and gone since.
bool was_withdrawn(const std::string& op_type) {
  static const std::set<std::string> names{"ATen",
                                           "Affine",
                                           "ConstantFill",
                                           "Crop",
                                           "DynamicSlice",
                                           "GRUUnit",
                                           "GivenTensorFill",
                                           "ImageScaler",
                                           "ParametricSoftplus",
                                           "Scale",
                                           "ScaledTanh"};
  return names.count(op_type) != 0;
}

bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string operator_name(const onnx::NodeProto& node) {
  return printable(is_standard(node.domain()) ? node.op_type()
                                              : node.domain() + "." + node.op_type());
}

std::string type_name(AttributeProto::AttributeType type) {
  return AttributeProto::AttributeType_Name(type);
}

std::string count_text(const Arity& arity) {
  if (arity.most == Arity::kAnyNumber) return fmt::format("{} or more", arity.least);
  if (arity.least == arity.most) return fmt::format("{}", arity.most);
  return fmt::format("{} to {}", arity.least, arity.most);
}

/// The types of those of the attribute's fields that hold something.
std::vector<AttributeProto::AttributeType> held_types(const AttributeProto& attribute) {
  std::vector<AttributeProto::AttributeType> types;
  const auto add = [&types](bool held, AttributeProto::AttributeType type) {
    if (held) types.push_back(type);
  };
  add(attribute.has_f(), AttributeProto::FLOAT);
  add(attribute.has_i(), AttributeProto::INT);
  add(attribute.has_s(), AttributeProto::STRING);
  add(attribute.has_t(), AttributeProto::TENSOR);
  add(attribute.has_g(), AttributeProto::GRAPH);
  add(attribute.has_tp(), AttributeProto::TYPE_PROTO);
  add(attribute.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR);
  add(attribute.floats_size() != 0, AttributeProto::FLOATS);
  add(attribute.ints_size() != 0, AttributeProto::INTS);
  add(attribute.strings_size() != 0, AttributeProto::STRINGS);
  add(attribute.tensors_size() != 0, AttributeProto::TENSORS);
  add(attribute.graphs_size() != 0, AttributeProto::GRAPHS);
  add(attribute.type_protos_size() != 0, AttributeProto::TYPE_PROTOS);
  add(attribute.sparse_tensors_size() != 0, AttributeProto::SPARSE_TENSORS);
  return types;
}

/// A tensor in an attribute has the data that its shape says, in the file itself.
void check_tensor(const onnx::TensorProto& tensor, const std::string& where) {
  check_data(tensor, false, where);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    throw UsageError(fmt::format("{}: only initializers may have external data", where));
  }
}

void check_sparse_tensor(const onnx::SparseTensorProto& tensor, const std::string& where) {
  check_tensor(tensor.values(), where);
  check_tensor(tensor.indices(), where);
  checked_type(tensor.values().data_type(), {tensor.dims().begin(), tensor.dims().end()}, where);
}

/// The names that nodes of a graph may read: its own, and those of the graphs around it.
struct Scope {
  const Scope* outer = nullptr;
  std::set<std::string> names;

  bool has(const std::string& name) const {
    return names.count(name) != 0 || (outer != nullptr && outer->has(name));
  }
};

class NodeChecker {
 public:
  NodeChecker(const onnx::ModelProto& model, const Opsets& opsets)
      : ir_version_(model.ir_version()), opsets_(opsets) {}

  /// Adds the node's outputs to the scope.
  void check(const onnx::NodeProto& node, const std::string& where, Scope& scope) const;

 private:
  void check_operator(const onnx::NodeProto& node, const std::string& where) const;
  void check_attribute(const AttributeProto& attribute, const std::string& where,
                       const Scope& scope) const;
  void check_subgraph(const onnx::GraphProto& graph, const std::string& where,
                      const Scope& outer) const;

  std::int64_t ir_version_;
  const Opsets& opsets_;
};

/// As many values as the operator has, and none left out that it needs.
template <class Names>
void check_values(const Names& names, const std::vector<Formal>& formals, const char* what,
                  const std::string& where) {
  const Arity allowed = arity(formals);
  if (names.size() < allowed.least || names.size() > allowed.most) {
    throw UsageError(fmt::format("{}: has {} {}s; the operator has {}", where, names.size(), what,
                                 count_text(allowed)));
  }
  for (int i = 0; i < names.size() && static_cast<std::size_t>(i) < formals.size(); ++i) {
    const Formal& formal = formals[static_cast<std::size_t>(i)];
    if (names[i].empty() && !formal.optional && !formal.variadic) {
      throw UsageError(fmt::format("{}: {} {}, '{}', is missing; the operator needs it", where,
                                   what, i, formal.name));
    }
  }
}

void check_against_schema(const onnx::NodeProto& node, const Schema& schema,
                          const std::string& where) {
  if (schema.deprecated) {
    throw UsageError(fmt::format("{}: operator {} was withdrawn with opset {}", where,
                                 operator_name(node), schema.since));
  }
  check_values(node.input(), schema.inputs, "input", where);
  check_values(node.output(), schema.outputs, "output", where);
  std::set<std::string> given;
  for (const AttributeProto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    given.insert(name);
    const SchemaAttribute* expected = schema.attribute(name);
    if (expected == nullptr) {
      if (name.rfind("__", 0) == 0) continue;  // a tool's own remark
      throw UsageError(
          fmt::format("{}: the operator has no attribute '{}'", where, printable(name)));
    }
    if (attribute.has_type() && attribute.type() != expected->type) {
      throw UsageError(fmt::format("{}: attribute '{}' is of type {}; it must be of type {}", where,
                                   printable(name), type_name(attribute.type()),
                                   type_name(expected->type)));
    }
  }
  for (const SchemaAttribute& attribute : schema.attributes) {
    if (attribute.required && given.count(std::string(attribute.name)) == 0) {
      throw UsageError(fmt::format("{}: attribute '{}' is missing; the operator needs it", where,
                                   attribute.name));
    }
  }
}

void NodeChecker::check_operator(const onnx::NodeProto& node, const std::string& where) const {
  const std::string& op_type = node.op_type();
  if (op_type.empty()) throw UsageError(fmt::format("{}: it has no operator", where));
  if (node.input().empty() && node.output().empty()) {
    throw UsageError(fmt::format("{}: it has neither inputs nor outputs", where));
  }
  const std::string domain = is_standard(node.domain()) ? "" : node.domain();
  if (domain.empty() && was_withdrawn(op_type)) {
    throw UsageError(
        fmt::format("{}: operator {} was withdrawn from ONNX", where, operator_name(node)));
  }
  const auto opset = opsets_.find(domain);
  if (opset == opsets_.end()) {
    throw UsageError(fmt::format("{}: the file does not say which opset of domain '{}' it uses",
                                 where, printable(domain)));
  }
  // ONNX Runtime had it before ONNX did, in ONNX's domain; its transformer optimizer writes it so.
  const bool is_early = domain.empty() && op_type == "LayerNormalization";
  const std::int64_t version =
      is_early ? std::max(opset->second, first_opset(domain, op_type)) : opset->second;
  if (const Schema* schema = find_schema(domain, op_type, version)) {
    check_against_schema(node, *schema, where);
  } else if (is_complete_domain(domain)) {
    const std::int64_t first = first_opset(domain, op_type);
    throw UsageError(fmt::format(
        "{}: there is no operator {}{}", where, operator_name(node),
        first == 0
            ? std::string()
            : fmt::format(" before opset {}; the file uses opset {}", first, opset->second)));
  }
}

void NodeChecker::check_attribute(const AttributeProto& attribute, const std::string& where,
                                  const Scope& scope) const {
  if (attribute.name().empty())
    throw UsageError(fmt::format("{}: an attribute has no name", where));
  const std::string here = fmt::format("{}: attribute '{}'", where, printable(attribute.name()));
  if (!attribute.has_type() && ir_version_ >= 2) {
    throw UsageError(fmt::format("{}: has no type", here));
  }
  if (!attribute.ref_attr_name().empty()) {
    throw UsageError(
        fmt::format("{}: refers to a function's attribute outside any function", here));
  }
  const auto held = held_types(attribute);
  if (held.size() > 1) {
    throw UsageError(fmt::format("{}: has two values, of types {} and {}", here, type_name(held[0]),
                                 type_name(held[1])));
  }
  if (held.size() == 1 && attribute.has_type() && held[0] != attribute.type()) {
    throw UsageError(fmt::format("{}: is of type {}, but its value is of type {}", here,
                                 type_name(attribute.type()), type_name(held[0])));
  }
  if (attribute.has_t()) check_tensor(attribute.t(), here);
  for (const onnx::TensorProto& tensor : attribute.tensors()) check_tensor(tensor, here);
  if (attribute.has_sparse_tensor()) check_sparse_tensor(attribute.sparse_tensor(), here);
  for (const auto& tensor : attribute.sparse_tensors()) check_sparse_tensor(tensor, here);
  if (attribute.has_g()) check_subgraph(attribute.g(), here, scope);
  for (const onnx::GraphProto& graph : attribute.graphs()) check_subgraph(graph, here, scope);
}

void NodeChecker::check_subgraph(const onnx::GraphProto& graph, const std::string& where,
                                 const Scope& outer) const {
  Scope scope{&outer, {}};
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (input.name().empty()) throw UsageError(fmt::format("{}: an input has no name", where));
    if (!scope.names.insert(input.name()).second) {
      throw UsageError(
          fmt::format("{}: two inputs are called '{}'", where, printable(input.name())));
    }
  }
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    check_tensor(tensor, where);
    scope.names.insert(tensor.name());
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    check_sparse_tensor(tensor, where);
    scope.names.insert(tensor.values().name());
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    const std::string here =
        fmt::format("{}: node '{}' ({})", where, node_label(node, i), printable(node.op_type()));
    for (const std::string& input : node.input()) {
      if (!input.empty() && !scope.has(input)) {
        throw UsageError(fmt::format("{}: reads '{}', which nothing before it produces", here,
                                     printable(input)));
      }
    }
    for (const std::string& output : node.output()) {
      if (!output.empty() && scope.names.count(output) != 0) {
        throw UsageError(
            fmt::format("{}: produces '{}', which exists already", here, printable(output)));
      }
    }
    check(node, here, scope);
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    if (scope.has(output.name())) continue;
    throw UsageError(
        fmt::format("{}: nothing produces its output '{}'", where, printable(output.name())));
  }
}

void NodeChecker::check(const onnx::NodeProto& node, const std::string& where, Scope& scope) const {
  check_operator(node, where);
  for (const AttributeProto& attribute : node.attribute()) {
    check_attribute(attribute, where, scope);
  }
  for (const std::string& output : node.output()) {
    if (!output.empty()) scope.names.insert(output);
  }
}

}  // namespace

void check_nodes(const onnx::ModelProto& model, const Opsets& opsets, const std::string& file) {
  const onnx::GraphProto& graph = model.graph();
  Scope scope;
  for (const onnx::ValueInfoProto& input : graph.input()) scope.names.insert(input.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) scope.names.insert(tensor.name());
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    scope.names.insert(tensor.values().name());
  }
  const NodeChecker checker(model, opsets);
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    checker.check(
        node,
        fmt::format("{}: node '{}' ({})", file, node_label(node, i), printable(node.op_type())),
        scope);
  }
}

}  // namespace gemm64

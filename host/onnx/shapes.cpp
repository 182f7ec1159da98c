// SPDX-License-Identifier: Apache-2.0
#include "host/onnx/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/error.hpp"
#include "host/onnx/shape_rules.hpp"
#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace {

using Constants = std::map<std::string, const onnx::TensorProto*>;

// Tensors that hold shapes have a value for each dimension; masks and indices may have a few more.
constexpr std::size_t kMostIntegers = 4096;

const ShapeRules& rules() {
  static const ShapeRules all = [] {
    ShapeRules table;
    add_elementwise_rules(table);
    add_product_rules(table);
    add_window_rules(table);
    add_layout_rules(table);
    add_reduction_rules(table);
    add_constant_rules(table);
    return table;
  }();
  return all;
}

/// The file's shape of a value, with -1 where a dimension is open; empty where it has none.
std::optional<TensorType> declared(const onnx::ValueInfoProto& value, const std::string& where) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) {
    return std::nullopt;
  }
  const onnx::TypeProto::Tensor& tensor = value.type().tensor_type();
  TensorType type{tensor.elem_type(), {}};
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) {
      throw UsageError(
          fmt::format("{}: its dimension {} is {}", where, type.dims.size(), dim.dim_value()));
    }
    type.dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  }
  return type;
}

bool has_open_batch(const TensorType& type) { return !type.dims.empty() && type.dims[0] < 0; }

/// Types of the graph's inputs. Returns whether one of them is another than the file says, so that
/// the file's shapes of other values no longer count.
bool set_inputs(const onnx::GraphProto& graph, const Constants& constants,
                const ImportOptions& options, const std::string& file, ValueFacts& facts) {
  struct Input {
    std::string name;
    std::optional<TensorType> type;
    int data_type = 0;
  };
  std::vector<Input> inputs;
  bool open_batch = false;
  std::int64_t batch_in_file = -1;
  for (const onnx::ValueInfoProto& value : graph.input()) {
    const std::string where = fmt::format("{}: input '{}'", file, printable(value.name()));
    std::optional<TensorType> type = declared(value, where);
    if (constants.count(value.name()) != 0) continue;
    if (!value.type().has_tensor_type()) {
      facts.unknown[value.name()] = fmt::format("input '{}' is no tensor", printable(value.name()));
      continue;
    }
    if (type) {
      open_batch = open_batch || has_open_batch(*type);
      if (batch_in_file < 0 && !type->dims.empty()) batch_in_file = type->dims[0];
    }
    inputs.push_back({value.name(), type, value.type().tensor_type().elem_type()});
  }

  bool changed = false;
  for (Input& input : inputs) {
    const std::string where = fmt::format("{}: input '{}'", file, printable(input.name));
    const auto given = options.input_shapes.find(input.name);
    if (given != options.input_shapes.end()) {
      if (input.type && input.type->dims.size() != given->second.size()) {
        throw UsageError(fmt::format("{}: has {} dimensions, the shape given for it, {}, has {}",
                                     where, input.type->dims.size(), dims_text(given->second),
                                     given->second.size()));
      }
      changed = changed || !input.type || input.type->dims != given->second;
      input.type = TensorType{input.data_type, given->second};
    } else if (input.type && has_open_batch(*input.type)) {
      input.type->dims[0] = std::max<std::int64_t>(options.batch, 1);
    } else if (input.type && options.batch != 0 && !open_batch && !input.type->dims.empty() &&
               input.type->dims[0] == batch_in_file) {
      // All inputs that share the first one's batch.
      changed = changed || batch_in_file != options.batch;
      input.type->dims[0] = options.batch;
    }
    if (!input.type) {
      facts.unknown[input.name] =
          fmt::format("the file gives no shape of input '{}'", printable(input.name));
      continue;
    }
    const Dims& dims = input.type->dims;
    const auto open = std::find(dims.begin(), dims.end(), -1);
    if (open != dims.end()) {
      facts.unknown[input.name] = fmt::format("dimension {} of input '{}' is open",
                                              open - dims.begin(), printable(input.name));
      continue;
    }
    facts.types[input.name] = checked_type(input.data_type, dims, where);
  }
  return changed;
}

/// What the file says of values that no rule knows.
std::map<std::string, TensorType> declared_values(const onnx::GraphProto& graph,
                                                  const std::string& file) {
  std::map<std::string, TensorType> types;
  const auto take = [&](const onnx::ValueInfoProto& value) {
    const std::string where = fmt::format("{}: value '{}'", file, printable(value.name()));
    const std::optional<TensorType> type = declared(value, where);
    if (!type || type->data_type == onnx::TensorProto::UNDEFINED) return;
    if (std::find(type->dims.begin(), type->dims.end(), -1) != type->dims.end()) return;
    types[value.name()] = checked_type(type->data_type, type->dims, where);
  };
  for (const onnx::ValueInfoProto& value : graph.value_info()) take(value);
  for (const onnx::ValueInfoProto& value : graph.output()) take(value);
  return types;
}

/// Why nothing is known of the outputs of `node`: empty where its rule set them all.
std::string apply_rule(RuleNode& rule_node) {
  const onnx::NodeProto& node = rule_node.proto();
  const auto found = rules().find(node.op_type());
  if (found == rules().end() || !node.domain().empty()) {
    return fmt::format("the shapes that operator {}{}{} makes are not inferred",
                       printable(node.domain()), node.domain().empty() ? "" : ".",
                       printable(node.op_type()));
  }
  try {
    found->second(rule_node);
    propagate_integers(rule_node);
  } catch (const NotKnown& reason) {
    return reason.why;
  }
  return "";
}

}  // namespace

void ValueFacts::keep_integers(const std::string& value, std::vector<std::int64_t> values) {
  constexpr std::size_t kMostStored = std::size_t{1} << 23;
  if (values.size() > kMostIntegers || stored + values.size() > kMostStored) return;
  stored += values.size();
  integers[value] = std::move(values);
}

ValueFacts infer_shapes(const onnx::GraphProto& graph, std::int64_t opset,
                        const Constants& constants, const ImportOptions& options,
                        const std::string& file) {
  ValueFacts facts;
  for (const auto& [name, tensor] : constants) {
    facts.types[name] = {tensor->data_type(), {tensor->dims().begin(), tensor->dims().end()}};
    if (auto values = integer_values(*tensor, static_cast<std::int64_t>(kMostIntegers))) {
      facts.keep_integers(name, std::move(*values));
    }
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    facts.types[tensor.values().name()] = {tensor.values().data_type(),
                                           {tensor.dims().begin(), tensor.dims().end()}};
  }
  const bool changed = set_inputs(graph, constants, options, file, facts);
  std::map<std::string, TensorType> file_types = declared_values(graph, file);
  if (changed) file_types.clear();

  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    RuleNode rule_node(
        node, opset, constants,
        fmt::format("{}: node '{}' ({})", file, node_label(node, i), printable(node.op_type())),
        facts);
    const std::string why = apply_rule(rule_node);
    for (const std::string& output : node.output()) {
      if (output.empty() || facts.types.count(output) != 0) continue;
      const auto known = file_types.find(output);
      if (known != file_types.end()) {
        facts.types[output] = known->second;
      } else {
        facts.unknown[output] = why.empty() ? "its shape is not inferred" : why;
      }
    }
  }
  return facts;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/batched_shape.hpp"
#include "host/graph/onnx/fold.hpp"
#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/shape_rules.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using Constants = std::map<std::string, const onnx::TensorProto*>;

// Tensors that hold shapes have a value for each dimension; masks and indices may have a few more.
constexpr std::size_t kMaxIntegers = 4096;
// All of them together.
constexpr std::size_t kMaxStored = std::size_t{1} << 23;

/// The file's shape of a value, with -1 where a dimension is open; empty where it has none.
std::optional<TensorType> declared(const onnx::ValueInfoProto& value, const std::string& where) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) {
    return std::nullopt;
  }
  const onnx::TypeProto::Tensor& tensor = value.type().tensor_type();
  TensorType type{tensor.elem_type(), {}};
  for (const auto& dim : tensor.shape().dim()) {
    // -1 is how some exporters leave a size open.
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      throw UsageError(
          fmt::format("{}: its dimension {} is {}", where, type.dims.size(), dim.dim_value()));
    }
    type.dims.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  }
  return type;
}

/// Sizes that the file leaves open under a name.
using Sizes = std::map<std::string, std::int64_t>;

/// The name of dimension `i`; empty where it has none, as all of a value without a shape.
std::string size_name(const onnx::ValueInfoProto& value, std::size_t i) {
  const auto& dims = value.type().tensor_type().shape().dim();
  return i < static_cast<std::size_t>(dims.size()) ? open_name(dims.Get(static_cast<int>(i))) : "";
}

void fill_named_sizes(const onnx::ValueInfoProto& value, const Sizes& sizes, TensorType& type) {
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    const auto found = sizes.find(size_name(value, i));
    if (type.dims[i] < 0 && found != sizes.end()) type.dims[i] = found->second;
  }
}

void learn_sizes(const onnx::ValueInfoProto& value, const std::optional<TensorType>& type,
                 Sizes& sizes) {
  const auto& tensor = value.type().tensor_type();
  if (!type || static_cast<std::size_t>(tensor.shape().dim_size()) != type->dims.size()) return;
  for (std::size_t i = 0; i < type->dims.size(); ++i) {
    const std::string name = size_name(value, i);
    if (!name.empty() && type->dims[i] >= 0) sizes.emplace(name, type->dims[i]);
  }
}

bool has_open_batch(const TensorType& type) { return !type.dims.empty() && type.dims[0] < 0; }

/// Types of the graph's inputs, and sizes by their names in the file. Returns whether a size is
/// another than the file says, so that the file's shapes of other values no longer count.
bool set_inputs(const onnx::GraphProto& graph, const Constants& constants,
                const ImportOptions& options, const std::string& file, ValueFacts& facts,
                Sizes& sizes) {
  struct Input {
    std::string name;
    std::optional<TensorType> type;
    int data_type = 0;
    const onnx::ValueInfoProto* info = nullptr;
  };
  std::vector<Input> inputs;
  bool open_batch = false;
  std::int64_t batch_in_file = -1;
  for (const onnx::ValueInfoProto& value : graph.input()) {
    const std::string where = fmt::format("{}: input '{}'", file, printable(value.name()));
    std::optional<TensorType> type = declared(value, where);
    if (constants.count(value.name()) != 0) continue;
    if (!value.type().has_tensor_type()) {
      facts.unknown[value.name()] =
          fmt::format("input '{}' is not a tensor", printable(value.name()));
      continue;
    }
    if (type) {
      open_batch = open_batch || has_open_batch(*type);
      if (batch_in_file < 0 && !type->dims.empty()) batch_in_file = type->dims[0];
    }
    inputs.push_back({value.name(), type, value.type().tensor_type().elem_type(), &value});
  }

  // Sizes that are given by their names; those of inputs whose whole shape is given come first.
  for (const Input& input : inputs) {
    const auto given = options.input_shapes.find(input.name);
    if (given == options.input_shapes.end()) continue;
    learn_sizes(*input.info, TensorType{input.data_type, given->second}, sizes);
  }
  for (const auto& [name, shape] : options.input_shapes) {
    const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                      [&name = name](const Input& i) { return i.name == name; });
    if (!is_input && shape.size() == 1) sizes.emplace(name, shape[0]);
  }
  const Sizes given_sizes = sizes;

  bool changed = false;
  for (Input& input : inputs) {
    const std::string where = fmt::format("{}: input '{}'", file, printable(input.name));
    const auto given = options.input_shapes.find(input.name);
    if (given == options.input_shapes.end() && input.type) {
      fill_named_sizes(*input.info, given_sizes, *input.type);
    }
    if (given != options.input_shapes.end()) {
      if (input.type && input.type->dims.size() != given->second.size()) {
        throw UsageError(fmt::format("{}: has {} dimensions, the shape given for it, {}, has {}",
                                     where, input.type->dims.size(), dims_text(given->second),
                                     given->second.size()));
      }
      for (std::size_t i = 0; input.type && i < given->second.size(); ++i) {
        const std::int64_t size = input.type->dims[i];
        changed = changed || (size >= 0 && size != given->second[i]);
      }
      input.type = TensorType{input.data_type, given->second};
    } else if (input.type && has_open_batch(*input.type)) {
      if (options.batch != kOpenBatch) {
        input.type->dims[0] = std::max<std::int64_t>(options.batch, 1);
      }
    } else if (input.type && options.batch > 0 && !open_batch && !input.type->dims.empty() &&
               input.type->dims[0] == batch_in_file) {
      // All inputs that share the first one's batch.
      changed = changed || batch_in_file != options.batch;
      input.type->dims[0] = options.batch;
    }
    learn_sizes(*input.info, input.type, sizes);
  }
  for (Input& input : inputs) {
    const std::string where = fmt::format("{}: input '{}'", file, printable(input.name));
    if (input.type) fill_named_sizes(*input.info, sizes, *input.type);
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

/// What the file says of values that no rule knows. Sizes that it names as it names those of inputs
/// are those.
std::map<std::string, TensorType> declared_values(const onnx::GraphProto& graph, const Sizes& sizes,
                                                  const std::string& file) {
  std::map<std::string, TensorType> types;
  const auto take = [&](const onnx::ValueInfoProto& value) {
    const std::string where = fmt::format("{}: value '{}'", file, printable(value.name()));
    std::optional<TensorType> type = declared(value, where);
    if (!type || type->data_type == onnx::TensorProto::UNDEFINED) return;
    fill_named_sizes(value, sizes, *type);
    if (std::find(type->dims.begin(), type->dims.end(), -1) != type->dims.end()) return;
    types[value.name()] = checked_type(type->data_type, type->dims, where);
  };
  for (const onnx::ValueInfoProto& value : graph.value_info()) take(value);
  for (const onnx::ValueInfoProto& value : graph.output()) take(value);
  return types;
}

/// Does the file itself give the value: an initializer, or whatever a Constant node holds?
bool is_given(const onnx::GraphProto& graph, const Constants& constants, const std::string& name) {
  return constants.count(name) != 0 ||
         std::any_of(graph.node().begin(), graph.node().end(), [&name](const auto& node) {
           return node.op_type() == "Constant" && node.output_size() == 1 && node.output(0) == name;
         });
}

/// Gives a node that reshapes one image a shape for all of the batch: `batched` is the node, which
/// reads a constant that the graph lacks. Returns whether there is a need.
bool replace_shape(const onnx::GraphProto& graph, int index, std::int64_t batch,
                   const Constants& constants, ValueFacts& facts, onnx::NodeProto& batched) {
  const onnx::NodeProto& node = graph.node(index);
  std::optional<BatchedShape> found = batched_shape(node, facts, batch);
  // What is computed follows from the inputs' sizes, which may be others still.
  if (!found || !is_given(graph, constants, node.input(found->input))) return false;
  const std::string name =
      fmt::format("{} of node {} for a batch of {}", node.input(found->input), index, batch);
  if (facts.types.count(name) != 0) return false;
  const auto length = static_cast<std::int64_t>(found->shape.size());
  facts.keep_integers(name, std::move(found->shape));
  if (facts.integers.count(name) == 0) return false;
  facts.types[name] = {onnx::TensorProto::INT64, {length}};
  facts.replacements.push_back({index, found->input, name});
  batched = node;
  batched.set_input(found->input, name);
  return true;
}

/// Why nothing is known of the outputs of `node`: empty where its rule set them all.
std::string apply_rule(const OperatorInfo* info, RuleNode& node) {
  try {
    (info == nullptr ? shapes::unknown : *info->shape)(node);
  } catch (const NotKnown& reason) {
    return reason.why;
  }
  return "";
}

/// Computes nodes whose inputs are small and known before the network runs: exporters compute
/// shapes, pads and scales so. What grows faster than its values is left to the run.
class Folder {
 public:
  Folder(std::int64_t opset, const Constants& constants, ValueFacts& facts)
      : opset_(opset), constants_(constants), facts_(facts) {}

  void fold_node(const onnx::NodeProto& node, const OperatorInfo* info) {
    if (info == nullptr || info->work != work::none || !outputs_are_small(node)) return;
    std::vector<onnx::TensorProto> inputs;
    for (const std::string& name : node.input()) {
      inputs.emplace_back();
      if (!name.empty() && !take(name, inputs.back())) return;
    }
    const auto outputs = fold(node, opset_, inputs);
    if (!outputs) return;
    for (int i = 0; i < node.output_size(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (index < outputs->size()) facts_.keep_value(node.output(i), (*outputs)[index]);
    }
  }

 private:
  bool is_small(const std::string& value) const {
    const auto type = facts_.types.find(value);
    return type != facts_.types.end() &&
           type->second.elements() <= static_cast<std::int64_t>(kMaxIntegers);
  }
  /// ... and is there something new to learn?
  bool outputs_are_small(const onnx::NodeProto& node) const {
    bool is_new = false;
    for (const std::string& output : node.output()) {
      if (output.empty()) continue;
      if (!is_small(output)) return false;
      is_new = is_new || facts_.integers.count(output) == 0;
    }
    return is_new;
  }
  bool take(const std::string& name, onnx::TensorProto& tensor) const {
    if (!is_small(name)) return false;
    const auto constant = constants_.find(name);
    if (constant != constants_.end()) {
      if (constant->second->data_location() == onnx::TensorProto::EXTERNAL) return false;
      tensor = *constant->second;
      return has_data(tensor);
    }
    const auto value = facts_.values.find(name);
    if (value != facts_.values.end()) {
      tensor = value->second;
      return true;
    }
    const auto integers = facts_.integers.find(name);
    if (integers == facts_.integers.end()) return false;
    const TensorType& type = facts_.types.at(name);
    tensor.set_data_type(type.data_type);
    for (const std::int64_t dim : type.dims) tensor.add_dims(dim);
    for (const std::int64_t number : integers->second) {
      if (type.data_type == onnx::TensorProto::INT64) {
        tensor.add_int64_data(number);
      } else {
        tensor.add_int32_data(static_cast<std::int32_t>(number));
      }
    }
    return true;
  }

  std::int64_t opset_;
  const Constants& constants_;
  ValueFacts& facts_;
};

}  // namespace

void ValueFacts::keep_integers(const std::string& value, std::vector<std::int64_t> numbers) {
  if (numbers.size() > kMaxIntegers || stored + numbers.size() > kMaxStored) return;
  stored += numbers.size();
  integers[value] = std::move(numbers);
}

void ValueFacts::keep_value(const std::string& value, const onnx::TensorProto& tensor) {
  if (value.empty() || integers.count(value) != 0) return;
  if (auto numbers = integer_values(tensor, static_cast<std::int64_t>(kMaxIntegers))) {
    keep_integers(value, std::move(*numbers));
  } else if (tensor.raw_data().size() <= kMaxIntegers * sizeof(double) &&
             stored + tensor.raw_data().size() <= kMaxStored) {
    stored += tensor.raw_data().size();
    values[value] = tensor;
  }
}

const std::string& open_name(const onnx::TensorShapeProto::Dimension& dim) {
  static const std::string kNone;
  return dim.dim_param() == "?" ? kNone : dim.dim_param();
}

ValueFacts infer_shapes(const onnx::GraphProto& graph, std::int64_t opset,
                        const Constants& constants, const ImportOptions& options,
                        const std::string& file) {
  ValueFacts facts;
  for (const auto& [name, tensor] : constants) {
    facts.types[name] = {tensor->data_type(), {tensor->dims().begin(), tensor->dims().end()}};
    if (auto values = integer_values(*tensor, static_cast<std::int64_t>(kMaxIntegers))) {
      facts.keep_integers(name, std::move(*values));
    }
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    facts.types[tensor.values().name()] = {tensor.values().data_type(),
                                           {tensor.dims().begin(), tensor.dims().end()}};
  }
  Sizes sizes;
  const bool changed = set_inputs(graph, constants, options, file, facts, sizes);
  std::map<std::string, TensorType> file_types = declared_values(graph, sizes, file);
  if (changed) file_types.clear();
  Folder folder(opset, constants, facts);
  const std::int64_t batch = new_batch(graph, facts);

  for (int i = 0; i < graph.node_size(); ++i) {
    onnx::NodeProto batched;
    const bool replaced = replace_shape(graph, i, batch, constants, facts, batched);
    const onnx::NodeProto& node = replaced ? batched : graph.node(i);
    RuleNode rule_node(
        node, opset, constants,
        fmt::format("{}: node '{}' ({})", file, node_label(node, i), printable(node.op_type())),
        facts);
    const OperatorInfo* info = find_operator(node.domain(), node.op_type());
    const std::string why = apply_rule(info, rule_node);
    if (why.empty()) {
      if (constants.count(node.input_size() == 0 ? "" : node.input(0)) == 0 &&
          mixes_images(node, facts, batch)) {
        rule_node.fail(fmt::format("mixes the {} images of the batch: {} becomes {}", batch,
                                   dims_text(facts.types.at(node.input(0)).dims),
                                   dims_text(facts.types.at(node.output(0)).dims)));
      }
      folder.fold_node(node, info);
    }
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

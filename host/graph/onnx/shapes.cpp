// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/batched_shape.hpp"
#include "host/graph/onnx/inference.hpp"
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

/// NamedSizes that the file leaves open under a name.
using NamedSizes = std::map<std::string, std::int64_t>;

/// The name of dimension `i`; empty where it has none, as all of a value without a shape.
std::string size_name(const onnx::ValueInfoProto& value, std::size_t i) {
  const auto& dims = value.type().tensor_type().shape().dim();
  return i < static_cast<std::size_t>(dims.size()) ? open_name(dims.Get(static_cast<int>(i))) : "";
}

void fill_named_sizes(const onnx::ValueInfoProto& value, const NamedSizes& sizes,
                      TensorType& type) {
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    const auto found = sizes.find(size_name(value, i));
    if (type.dims[i] < 0 && found != sizes.end()) type.dims[i] = found->second;
  }
}

void learn_sizes(const onnx::ValueInfoProto& value, const std::optional<TensorType>& type,
                 NamedSizes& sizes) {
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
                NamedSizes& sizes) {
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

  // NamedSizes that are given by their names; those of inputs whose whole shape is given come
  // first.
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
  const NamedSizes given_sizes = sizes;

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
    const std::vector<std::int64_t>& dims = input.type->dims;
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

/// The file's types of values. NamedSizes that it names as it names those of inputs are those.
DeclaredValues declared_values(const onnx::GraphProto& graph, const NamedSizes& sizes,
                               const std::string& file) {
  DeclaredValues values;
  const auto take = [&](const onnx::ValueInfoProto& value) {
    declared(value, fmt::format("{}: value '{}'", file, printable(value.name())));
    onnx::ValueInfoProto& own = values[value.name()];
    own = value;
    if (!value.type().tensor_type().has_shape()) return;
    for (auto& dim : *own.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      const auto known = sizes.find(open_name(dim));
      if (!dim.has_dim_value() && known != sizes.end()) dim.set_dim_value(known->second);
    }
  };
  for (const onnx::ValueInfoProto& value : graph.value_info()) take(value);
  for (const onnx::ValueInfoProto& value : graph.output()) take(value);
  return values;
}

/// Does the file itself give the value: an initializer, or whatever a Constant node holds?
bool is_given(const onnx::GraphProto& graph, const Constants& constants, const std::string& name) {
  return constants.count(name) != 0 ||
         std::any_of(graph.node().begin(), graph.node().end(), [&name](const auto& node) {
           return node.op_type() == "Constant" && node.output_size() == 1 && node.output(0) == name;
         });
}

/// What is known before anything is inferred: constants.
ValueFacts constant_facts(const onnx::GraphProto& graph, const Constants& constants) {
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
  return facts;
}

/// What is known of the values at the file's own batch of 1.
ValueFacts facts_at_one(const onnx::ModelProto& model, const Constants& constants,
                        const DeclaredValues& declared, const std::string& file, ValueFacts facts) {
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    const auto& shape = input.type().tensor_type().shape();
    const auto type = facts.types.find(input.name());
    if (type == facts.types.end() || constants.count(input.name()) != 0) continue;
    if (shape.dim_size() != 0 && shape.dim(0).dim_value() == 1) type->second.dims[0] = 1;
  }
  try {
    infer_values(model, declared, file, facts);
  } catch (const UsageError&) {  // then the graph is made for another batch
  }
  return facts;
}

/// Gives nodes that reshape one image, as `at_one` shows, constants for all of the batch.
void replace_shapes(const onnx::GraphProto& graph, const Constants& constants,
                    const ValueFacts& at_one, std::int64_t batch, ValueFacts& facts) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    std::optional<BatchedShape> found = batched_shape(node, at_one, 1);
    // What is computed follows from the inputs' sizes, which may be others still.
    if (!found || !is_given(graph, constants, node.input(found->input)) ||
        constants.count(node.input(0)) != 0 || at_one.integers.count(node.input(0)) != 0 ||
        at_one.values.count(node.input(0)) != 0) {
      continue;
    }
    const std::string name =
        fmt::format("{} of node {} for a batch of {}", node.input(found->input), i, batch);
    if (facts.types.count(name) != 0) continue;
    found->shape[0] = batch;
    const auto length = static_cast<std::int64_t>(found->shape.size());
    facts.keep_integers(name, std::move(found->shape));
    if (facts.integers.count(name) == 0) continue;
    facts.types[name] = {onnx::TensorProto::INT64, {length}};
    facts.replacements.push_back({i, found->input, name});
  }
}

/// Takes over what is known of a model that this one was made from, if its inputs are the same.
/// Returns whether that is all.
bool take_known(const onnx::GraphProto& graph, const Constants& constants, const ValueFacts& known,
                ValueFacts& facts) {
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (constants.count(input.name()) != 0) continue;
    const auto own = facts.types.find(input.name());
    const auto before = known.types.find(input.name());
    const bool is_open = own == facts.types.end();
    if (is_open != (before == known.types.end())) return false;
    if (!is_open && own->second.dims != before->second.dims) return false;
  }
  facts.refused = known.refused;
  bool all = true;
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) {
      if (name.empty() || facts.types.count(name) != 0) continue;
      const auto type = known.types.find(name);
      const auto why = known.unknown.find(name);
      const auto numbers = known.integers.find(name);
      if (type != known.types.end()) {
        facts.types[name] = type->second;
      } else if (why != known.unknown.end()) {
        facts.unknown[name] = why->second;
      } else {
        all = false;
      }
      if (numbers != known.integers.end()) facts.keep_integers(name, numbers->second);
    }
  }
  return all;
}

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

onnx::TensorProto integer_tensor(const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return tensor;
}

ValueFacts infer_shapes(const onnx::ModelProto& model, const Constants& constants,
                        const ImportOptions& options, const std::string& file,
                        const ValueFacts* known) {
  const onnx::GraphProto& graph = model.graph();
  ValueFacts facts = constant_facts(graph, constants);
  NamedSizes sizes;
  const bool changed = set_inputs(graph, constants, options, file, facts, sizes);
  if (known != nullptr) {
    ValueFacts taken = facts;
    if (take_known(graph, constants, *known, taken)) return taken;
  }
  DeclaredValues declared = declared_values(graph, sizes, file);
  if (changed) declared.clear();
  const std::int64_t batch = new_batch(graph, facts);
  if (batch == 0) {
    infer_values(model, declared, file, facts);
    return facts;
  }
  const ValueFacts at_one = facts_at_one(model, constants, declared, file, facts);
  replace_shapes(graph, constants, at_one, batch, facts);
  infer_values(model, declared, file, facts);
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (constants.count(node.input_size() == 0 ? "" : node.input(0)) != 0 ||
        !mixes_images(node, facts, batch)) {
      continue;
    }
    throw UsageError(
        fmt::format("{}: node '{}' ({}): mixes the {} images of the batch: {} becomes {}", file,
                    node_label(node, i), printable(node.op_type()), batch,
                    dims_text(facts.types.at(node.input(0)).dims),
                    dims_text(facts.types.at(node.output(0)).dims)));
  }
  return facts;
}

}  // namespace gemm64

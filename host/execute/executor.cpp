// SPDX-License-Identifier: Apache-2.0
#include "host/execute/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

std::string input_text(const OnnxModel& model, const onnx::ValueInfoProto& info) {
  return fmt::format("{}: its input '{}'", model.name(), printable(info.name()));
}

void check_input(const OnnxModel& model, const onnx::ValueInfoProto& info, const Tensor& tensor) {
  const auto& type = info.type().tensor_type();
  const std::string what = input_text(model, info);
  if (type.elem_type() != tensor.type()) {
    throw UsageError(fmt::format("{} takes {}, but is given {}", what,
                                 data_type_name(type.elem_type()), describe(tensor)));
  }
  if (type.has_shape() && type.shape().dim_size() != static_cast<int>(tensor.rank())) {
    throw UsageError(
        fmt::format("{} has {}, but is given {}", what,
                    counted(static_cast<std::uint64_t>(type.shape().dim_size()), "dimension"),
                    describe(tensor)));
  }
}

}  // namespace

Executor::Executor(const OnnxModel& model) : model_(model) {
  require_supported(model);
  const onnx::GraphProto& graph = model.graph();
  std::set<std::string> dequantized;  // values that a DequantizeLinear makes, or others of these
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (is_dequantize(node) ||
        std::any_of(node.input().begin(), node.input().end(),
                    [&](const std::string& name) { return dequantized.count(name) != 0; })) {
      dequantized.insert(node.output().begin(), node.output().end());
    }
    Step step;
    step.context = {&node, fmt::format("{} ({})", node_label(node, i), operator_name(node)),
                    model.opset()};
    step.info = find_operator(node.domain(), node.op_type());
    const int weights = weights_input(node);
    step.context.constant_weights =
        node.input_size() > weights && model.is_constant(node.input(weights));
    step.context.packed_weights =
        step.context.constant_weights && dequantized.count(node.input(weights)) == 0;
    steps_.push_back(std::move(step));
  }

  std::set<std::string> seen;
  for (const onnx::ValueInfoProto& output : graph.output()) seen.insert(output.name());
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    // Outputs that nobody reads are seen here for the first time as well.
    for (const auto* names : {&step->context.node->input(), &step->context.node->output()}) {
      for (const std::string& name : *names) {
        if (!name.empty() && seen.insert(name).second) step->last_uses.push_back(name);
      }
    }
  }
}

Tensor Executor::constant(const NodeContext& node, const std::string& name) const {
  const onnx::TensorProto* proto = model_.constant(name);
  if (proto == nullptr) {
    throw failure(node, fmt::format("its input '{}' has no value", printable(name)));
  }
  return Tensor::from_proto(*proto);
}

NamedTensors Executor::run(const NamedTensors& inputs, const ExecutorHooks& hooks) const {
  Values values = begin(inputs);
  run_steps(0, steps_.size(), values, hooks);
  return outputs(values);
}

Values Executor::begin(const NamedTensors& inputs) const {
  Values values;
  for (const onnx::ValueInfoProto& info : model_.graph().input()) {
    const auto given = inputs.find(info.name());
    if (given != inputs.end()) {
      check_input(model_, info, given->second);
      values[info.name()] = given->second;
    } else if (model_.is_graph_input(info.name())) {
      throw UsageError(
          fmt::format("{}: its input '{}' is not given", model_.name(), printable(info.name())));
    }
  }
  return values;
}

void Executor::run_steps(std::size_t first, std::size_t last, Values& values,
                         const ExecutorHooks& hooks) const {
  for (std::size_t index = first; index < last; ++index) {
    run_step(steps_[index], values, hooks);
    for (const std::string& name : steps_[index].last_uses) values.erase(name);
  }
}

Tensors Executor::arguments(const Step& step, const Values& values, const Tensor* first) const {
  Tensors arguments;
  for (const std::string& name : step.context.node->input()) {
    if (arguments.empty() && first != nullptr) {
      arguments.push_back(*first);
      continue;
    }
    const auto found = values.find(name);
    if (name.empty()) {
      arguments.emplace_back();
    } else {
      arguments.push_back(found != values.end() ? found->second : constant(step.context, name));
    }
  }
  return arguments;
}

Tensors Executor::compute_step(const Step& step, const Tensors& arguments,
                               const ExecutorHooks& hooks) const {
  try {
    Tensors results;
    if (hooks.instead) results = hooks.instead(step, arguments);
    if (results.empty()) results = compute(*step.info, step.context, arguments);
    return results;
  } catch (const UsageError& error) {
    // Those that come from a tensor do not know the node.
    const std::string what = error.what();
    if (what.rfind(step.context.label, 0) == 0) throw UsageError(model_.name() + ": " + what);
    throw UsageError(fmt::format("{}: {}: {}", model_.name(), step.context.label, what));
  }
}

void Executor::run_step(const Step& step, Values& values, const ExecutorHooks& hooks) const {
  const onnx::NodeProto& node = *step.context.node;
  const Tensors results = compute_step(step, arguments(step, values), hooks);
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    if (static_cast<std::size_t>(i) >= results.size()) {
      throw UsageError(fmt::format("{}: {}: its output number {} is not computed", model_.name(),
                                   step.context.label, i + 1));
    }
    values[node.output(i)] = results[static_cast<std::size_t>(i)];
  }
  if (hooks.after) hooks.after(step, results);
}

NamedTensors Executor::outputs(const Values& values) const {
  NamedTensors outputs;
  for (const onnx::ValueInfoProto& output : model_.graph().output()) {
    const auto found = values.find(output.name());
    outputs[output.name()] =
        found != values.end() ? found->second : constant({nullptr, "the graph", 0}, output.name());
  }
  return outputs;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/session/kernel_oracle.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/compile/table_node.hpp"

namespace gemm64 {

Tensor KernelOracle::compute_layer(const DeviceLayer& layer, Values given,
                                   ExactValues* exact) const {
  if (layer.strips) {
    DeviceLayer alone = layer;
    alone.strips.reset();
    if (!layer.source)
      return in_strips(compute_layer(alone, std::move(given), exact), *layer.strips);
    const Values all = given;
    std::vector<Tensor> each;
    for (std::uint32_t i = 0; i < layer.strips->count; ++i) {
      given[layer.input_value] = strip_of(all.at(layer.input_value), *layer.source_strips, i);
      if (layer.operand) given[layer.second] = strip_of(all.at(layer.second), *layer.strips, i);
      each.push_back(compute_layer(alone, given, exact));
    }
    return join(each, 1);
  }
  Tensor result;
  if (layer.part && layer.part->node == layer.node) result = given.at(layer.input_value);
  for (const int node : layer.nodes()) {
    if (layer.part && layer.part->node == node) return in_steps_of(*layer.part, result);
    const Step& step = this->step(node);
    const Tensors arguments = executor_.arguments(step, given);
    if (exact != nullptr) {
      if (const auto others = exact->arguments(step, arguments)) {
        exact->store(step, executor_.compute_step(step, *others));
      }
    }
    result = executor_.compute_step(step, arguments)[0];
    given[step.context.node->output(0)] = result;
  }
  return result;
}

/// A part of a concatenation, in the steps of the whole: what the node makes of it alone.
Tensor KernelOracle::in_steps_of(const ConcatPart& part, const Tensor& value) const {
  const Step& step = this->step(part.node);
  const onnx::NodeProto node = concat_of_part(*step.context.node, part.input);
  Step alone = step;
  alone.context.node = &node;
  const std::string& name = node.input(2);
  return executor_.compute_step(alone, executor_.arguments(alone, {{name, value}}))[0];
}

void show_inner(const ProgramRun& run, const std::vector<Tensor>& results, const Values& values,
                const Executor& executor, const NodeObserver& after) {
  if (!after.wants_inner) return;
  const auto step_of = [&executor](int node) -> const Step& {
    return executor.steps()[static_cast<std::size_t>(node)];
  };
  std::set<int> shown;  // of a layer in stripes there are several
  for (const DeviceLayer& layer : run.program().layers) {
    std::vector<int> inner;
    for (const int node : layer.nodes()) {
      if (node != layer.gives() && shown.insert(node).second) inner.push_back(node);
    }
    if (std::none_of(inner.begin(), inner.end(),
                     [&](int node) { return after.wants_inner(*step_of(node).context.node); })) {
      continue;
    }
    Values given;
    const auto give = [&](const std::string& name, std::optional<std::size_t> from,
                          const std::vector<std::uint32_t>& channels) {
      const auto found = values.find(name);
      if (found != values.end()) {
        given[name] = found->second;
      } else if (from) {
        given[name] = channels_of(run.value_of(*from, results), channels)
                          .reshaped(executor.model().type(name)->dims);
      }
    };
    give(layer.input_value, layer.source, layer.view);
    if (!layer.second.empty()) give(layer.second, layer.operand, {});
    if (!layer.weights_value.empty()) give(layer.weights_value, {}, {});
    for (const int node : inner) {
      const Step& step = step_of(node);
      const auto& inputs = step.context.node->input();
      if (std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
            return !name.empty() && given.count(name) == 0 && !executor.model().is_constant(name);
          })) {
        break;
      }
      const Tensors outputs = executor.compute_step(step, executor.arguments(step, given));
      given[step.context.node->output(0)] = outputs[0];
      after(step, outputs);
    }
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/execute/calibration.hpp"

#include <algorithm>

#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace {

void widen(Ranges& ranges, const std::string& name, const Tensor& tensor) {
  if (tensor.type() != onnx::TensorProto::FLOAT || tensor.elements() == 0) return;
  const float* values = tensor.values<float>();
  const auto [least, greatest] = std::minmax_element(values, values + tensor.elements());
  const auto [found, is_new] = ranges.try_emplace(name, *least, *greatest);
  if (is_new) return;
  found->second.first = std::min(found->second.first, *least);
  found->second.second = std::max(found->second.second, *greatest);
}

}  // namespace

Ranges calibrate(const Executor& executor, const NetworkInputs& inputs) {
  Ranges ranges;
  for (const onnx::TensorProto& tensor : executor.model().graph().initializer()) {
    if (tensor.data_type() == onnx::TensorProto::FLOAT && has_data(tensor)) {
      widen(ranges, tensor.name(), Tensor::from_proto(tensor));
    }
  }
  ExecutorHooks hooks;
  // What a node reads includes the network's inputs.
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& name = step.context.node->input(static_cast<int>(i));
      if (arguments[i].present() && executor.model().is_graph_input(name)) {
        widen(ranges, name, arguments[i]);
      }
    }
    return Tensors{};
  };
  hooks.after = [&](const Step& step, const Tensors& outputs) {
    for (int i = 0; i < step.context.node->output_size(); ++i) {
      if (static_cast<std::size_t>(i) >= outputs.size()) break;
      widen(ranges, step.context.node->output(i), outputs[static_cast<std::size_t>(i)]);
    }
  };
  const std::size_t steps = executor.steps().size();
  for (std::int64_t pass = 0; pass < inputs.passes(); ++pass) {
    run_head(executor, steps, inputs.pass(pass), hooks);
  }
  return ranges;
}

}  // namespace gemm64

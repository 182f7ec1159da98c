// SPDX-License-Identifier: Apache-2.0
#include "host/execute/calibration.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace {

/// The least and the greatest of `count` values, at least one; NaNs are passed over, unless the
/// first is one.
std::pair<float, float> extremes(const float* values, std::int64_t count) {
  // Side by side, which the compiler must be told: the order of comparisons shows in NaNs.
  constexpr std::int64_t kLanes = 32;
  std::array<float, kLanes> least;
  std::array<float, kLanes> greatest;
  least.fill(values[0]);
  greatest.fill(values[0]);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const float* const from = values + std::min(i, std::max<std::int64_t>(count - kLanes, 0));
    const std::int64_t lanes = std::min(count, kLanes);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      least[at] = from[lane] < least[at] ? from[lane] : least[at];
      greatest[at] = from[lane] > greatest[at] ? from[lane] : greatest[at];
    }
  }
  return {*std::min_element(least.begin(), least.end()),
          *std::max_element(greatest.begin(), greatest.end())};
}

void widen(Ranges& ranges, const std::string& name, const Tensor& tensor) {
  if (tensor.type() != onnx::TensorProto::FLOAT || tensor.elements() == 0) return;
  const auto [least, greatest] = extremes(tensor.values<float>(), tensor.elements());
  const auto [found, is_new] = ranges.try_emplace(name, least, greatest);
  if (is_new) return;
  found->second.first = std::min(found->second.first, least);
  found->second.second = std::max(found->second.second, greatest);
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

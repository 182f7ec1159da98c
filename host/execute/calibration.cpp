// SPDX-License-Identifier: Apache-2.0
#include "host/execute/calibration.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"

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

void widen(Ranges& ranges, const std::string& name, const float* values, std::int64_t count) {
  const auto [least, greatest] = extremes(values, count);
  const auto [found, is_new] = ranges.try_emplace(name, least, greatest);
  if (is_new) return;
  found->second.first = std::min(found->second.first, least);
  found->second.second = std::max(found->second.second, greatest);
}

/// How many numbers of a value belong to `images` images, where it has a row for each of `rows`.
std::int64_t counted(const Tensor& tensor, std::int64_t images, std::int64_t rows) {
  const bool by_row = images < rows && !tensor.dims().empty() && tensor.dim(0) == rows;
  return by_row ? tensor.elements() / rows * images : tensor.elements();
}

}  // namespace

void observe_values(const Executor& executor, const NetworkInputs& inputs,
                    const ValueObserver& observe) {
  std::int64_t images = 0;
  const auto tell = [&](const std::string& name, const Tensor& tensor) {
    if (tensor.type() != onnx::TensorProto::FLOAT || tensor.elements() == 0) return;
    observe(name, tensor.values<float>(), counted(tensor, images, inputs.at_once));
  };
  // Who tells of each of the network's inputs: the first input of a node that reads it.
  std::map<std::string, std::pair<const onnx::NodeProto*, std::size_t>> readers;
  ExecutorHooks hooks;
  // What a node reads includes the network's inputs.
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& name = step.context.node->input(static_cast<int>(i));
      if (!arguments[i].present() || !executor.model().is_graph_input(name)) continue;
      const std::pair reader{step.context.node, i};
      if (readers.try_emplace(name, reader).first->second == reader) tell(name, arguments[i]);
    }
    return Tensors{};
  };
  hooks.after = [&](const Step& step, const Tensors& outputs) {
    for (int i = 0; i < step.context.node->output_size(); ++i) {
      if (static_cast<std::size_t>(i) >= outputs.size()) break;
      if (outputs[static_cast<std::size_t>(i)].present()) {
        tell(step.context.node->output(i), outputs[static_cast<std::size_t>(i)]);
      }
    }
  };
  const std::size_t steps = executor.steps().size();
  for (std::int64_t pass = 0; pass < inputs.passes(); ++pass) {
    images = inputs.images_of(pass);
    run_head(executor, steps, inputs.pass(pass), hooks);
  }
}

Ranges calibrate(const Executor& executor, const NetworkInputs& inputs) {
  if (!inputs.nans.empty()) {
    throw UsageError(inputs.nans.front() + "; calibrate on inputs without NaN");
  }
  Ranges ranges;
  for (const onnx::TensorProto& tensor : executor.model().graph().initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT || !has_data(tensor)) continue;
    const Tensor values = Tensor::from_proto(tensor);
    if (values.elements() != 0) {
      widen(ranges, tensor.name(), values.values<float>(), values.elements());
    }
  }
  observe_values(executor, inputs,
                 [&](const std::string& name, const float* values, std::int64_t count) {
                   widen(ranges, name, values, count);
                 });
  return ranges;
}

UsageError with_infinities(const UsageError& error, const NetworkInputs& inputs) {
  return inputs.infinities.empty() ? error
                                   : UsageError(error.what() + ("; " + inputs.infinities.front()));
}

}  // namespace gemm64

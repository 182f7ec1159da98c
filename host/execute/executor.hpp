// SPDX-License-Identifier: Apache-2.0
// Runs an ONNX graph on the host, node by node.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/execute/named_tensors.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/operator.hpp"
#include "host/kernels/operators.hpp"

namespace gemm64 {

/// The values of a graph that are there while it runs.
using Values = std::unordered_map<std::string, Tensor>;

/// A node in its place: what it reads and writes, and what nobody needs after it.
struct Step {
  NodeContext context;
  const OperatorInfo* info = nullptr;
  std::vector<std::string> last_uses;
};

/// Is given each node's outputs when it has run.
struct NodeObserver : std::function<void(const Step& step, const Tensors& outputs)> {
  using function::function;

  /// Is it to be given the outputs of this node even if the device computes them within another
  /// node's and stores them nowhere? Empty: of no such node.
  std::function<bool(const onnx::NodeProto& node)> wants_inner;
};

/// Called around each node.
struct ExecutorHooks {
  /// Computes a node in the host's place; returns no tensors where the host shall do it.
  std::function<Tensors(const Step& step, const Tensors& inputs)> instead;
  /// Told each node's outputs when it has run.
  NodeObserver after;
};

/// The model outlives the executor.
class Executor {
 public:
  /// Throws UsageError, which lists all of them, where nodes ask for operators that are not
  /// supported, or stand in a form older than supported.
  explicit Executor(const OnnxModel& model);

  const OnnxModel& model() const { return model_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// Runs the graph. Values are freed after the last node that reads them, weights are used where
  /// the model holds them. Returns the graph's outputs by name. Throws UsageError where an input is
  /// missing or of another type than the graph says, or where a node cannot run.
  NamedTensors run(const NamedTensors& inputs, const ExecutorHooks& hooks = {}) const;

  /// The same in parts: the values to begin with, steps [first, last), and the outputs.
  Values begin(const NamedTensors& inputs) const;
  void run_steps(std::size_t first, std::size_t last, Values& values,
                 const ExecutorHooks& hooks = {}) const;
  NamedTensors outputs(const Values& values) const;

  /// One step by itself: what it reads, and what it makes of that; no value is freed. Throw
  /// UsageError as run() does. `first`: in place of the value of its first input.
  Tensors arguments(const Step& step, const Values& values, const Tensor* first = nullptr) const;
  Tensors compute_step(const Step& step, const Tensors& arguments,
                       const ExecutorHooks& hooks = {}) const;
  void run_step(const Step& step, Values& values, const ExecutorHooks& hooks = {}) const;

 private:
  Tensor constant(const NodeContext& node, const std::string& name) const;

  const OnnxModel& model_;
  std::vector<Step> steps_;
};

}  // namespace gemm64

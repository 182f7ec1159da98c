// SPDX-License-Identifier: Apache-2.0
// What layers must write, and what nodes within them compute, by the host's kernels.
#pragma once

#include <vector>

#include "host/execute/executor.hpp"
#include "host/runtime/program_run.hpp"
#include "host/session/exact_values.hpp"

namespace gemm64 {

class KernelOracle : public LayerOracle {
 public:
  /// `executor`: of the network whose layers run; it outlives this.
  explicit KernelOracle(const Executor& executor) : executor_(executor) {}

  Tensor expected(const DeviceLayer& layer, NamedBuffers given) const override {
    return compute_layer(layer, std::move(given), nullptr);
  }

 protected:
  /// The same; `exact`, if there is one, takes what the nodes make of the float32 network's values.
  Tensor compute_layer(const DeviceLayer& layer, Values given, ExactValues* exact) const;

 private:
  Tensor in_steps_of(const ConcatPart& part, const Tensor& value) const;
  const Step& step(int node) const { return executor_.steps()[static_cast<std::size_t>(node)]; }

  const Executor& executor_;
};

/// Shows `after` the outputs of nodes that it wants and the device computes within a layer and
/// stores nowhere, such as those of a convolution to which it adds a tensor before it stores the
/// sum: what the host makes of the layer's inputs, which are as the device wrote them. `results`:
/// of each layer; `values`: those of the network that are known.
void show_inner(const ProgramRun& run, const std::vector<Tensor>& results, const Values& values,
                const Executor& executor, const NodeObserver& after);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What layers must write, by the host's kernels.
#pragma once

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

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The programs of a plan, while the host goes through the network: each runs as soon as the host
// has the operands and the results of all its layers.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "host/execute/device_layer.hpp"
#include "host/execute/executor.hpp"

namespace gemm64 {

class ProgramRuns {
 public:
  /// `run` is told each program with its layers' operands, in order. Neither the executor nor the
  /// plan is owned.
  using Run = std::function<void(const DeviceProgram& program, std::vector<ProgramLayer> layers)>;
  ProgramRuns(const Executor& executor, const DevicePlan& plan, Run run)
      : executor_(executor), plan_(plan), run_(std::move(run)) {}

  /// What the host got for a step of the plan. Its tensors are held until the layer's program runs.
  void add(const Step& step, const Tensors& inputs, const Tensor& results);
  /// Runs the programs that need nothing behind a step.
  void advance(const Step& step);

 private:
  struct Waiting {
    Tensors inputs;
    Tensor results;
  };

  const Executor& executor_;
  const DevicePlan& plan_;
  Run run_;
  std::size_t next_ = 0;  // program
  std::map<int, Waiting> waiting_;
};

}  // namespace gemm64

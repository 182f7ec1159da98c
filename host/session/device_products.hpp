// SPDX-License-Identifier: Apache-2.0
// Nodes of which the device computes the products and the host's kernels all else.
#pragma once

#include <cstddef>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/execute/executor.hpp"
#include "host/run/job_runner.hpp"

namespace gemm64 {

class DeviceProducts {
 public:
  /// `executor`: of the network that was compiled to `executable`. None is owned.
  DeviceProducts(const Executor& executor, const Executable& executable, JobRunner& runner)
      : executor_(executor), executable_(executable), runner_(runner) {}

  /// Runs program `index` of sums: the nodes' kernels say what they multiply and, once the device
  /// has the sums, what becomes of these. Adds the outputs to `values`, and a layer for each node
  /// to `layers`. Throws as JobRunner::run_program() does.
  void run_sums(std::size_t index, Values& values, const NodeObserver& after,
                const ProgressShare& progress, std::vector<LayerReport>& layers);
  /// Runs a Linear layer, of float32 or of integers, by itself. Returns its outputs, and adds its
  /// jobs to `layers`.
  Tensors run(const Step& step, const Tensors& arguments, const ProgressShare& progress,
              std::vector<LayerReport>& layers);

  /// Of wall time on the device so far, preparation included.
  double seconds() const { return seconds_; }

 private:
  Tensors run_floats(const Step& step, const Tensors& arguments, const ProgressShare& progress,
                     std::vector<LayerReport>& layers);
  Tensors run_integers(const Step& step, const Tensors& arguments, const ProgressShare& progress,
                       std::vector<LayerReport>& layers);

  const Executor& executor_;
  const Executable& executable_;
  JobRunner& runner_;
  double seconds_ = 0;
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What happens at each node of a network that runs with a device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/execute/executor.hpp"
#include "host/execute/head.hpp"
#include "host/run/job_runner.hpp"
#include "host/session/device_products.hpp"
#include "host/session/device_schedule.hpp"
#include "host/session/exact_values.hpp"
#include "host/session/kernel_oracle.hpp"
#include "host/session/wall_clock.hpp"

namespace gemm64 {

/// Runs a network with a device, pass by pass: what the device wrote is what the host, later
/// programs and the outputs take.
class NetworkPass : private KernelOracle {
 public:
  /// Called with the values of a pass that has run.
  using Ended = std::function<void(std::int64_t pass, const Values& values)>;

  NetworkPass(const Executor& executor, JobRunner& runner, const DeviceSchedule& schedule,
              const NetworkInputs& inputs, const NodeObserver& after, const RunProgress& progress);

  /// Runs all passes. Throws DeviceError where the device fails.
  void run(const Ended& ended);
  /// What ran on the device, all passes joined.
  std::vector<LayerReport> take_layers();

  /// The float32 network's values of the pass that has ended.
  const ExactValues& exact() const { return exact_; }
  /// Is there a float32 value that differs from another one?
  bool any_exact() const { return any_exact_; }
  double device_seconds() const { return device_seconds_ + products_.seconds(); }
  HostWork host_work() const;
  /// In the graph's order.
  std::vector<HostLayer> host_layers() const;

 private:
  void run_program(std::size_t number);
  void run_sums(const PassItem& item);
  const ProgramRun& program_run(std::size_t number);
  Tensor expected_ahead(const DeviceProgram& program, const DeviceLayer& layer,
                        NamedBuffers given) override;
  Tensors instead(const Step& step, const Tensors& arguments);
  void finish_pass();
  bool checks_layers() const { return runner_.options().check == CheckLevel::kLayers; }
  const Step& step(int node) const { return executor_.steps()[static_cast<std::size_t>(node)]; }
  /// The name of a layer's results, or of the concatenation that they are a part of.
  const std::string& results_of(const DeviceLayer& layer) const {
    return step(layer.gives()).context.node->output(0);
  }
  TensorType type_of(const std::string& value) const { return *executor_.model().type(value); }
  /// The part of the whole that begins now.
  void next(double cycles) {
    const double all = schedule_.all * static_cast<double>(inputs_.passes());
    share_.next(all == 0 ? 0 : cycles / all);
  }

  const Executor& executor_;
  JobRunner& runner_;
  const DeviceSchedule& schedule_;
  DeviceProducts products_;
  std::vector<std::unique_ptr<ProgramRun>> programs_;
  const NetworkInputs& inputs_;
  const NodeObserver& after_;
  const RunProgress& progress_;
  ProgressShare share_;
  ExecutorHooks hooks_;
  Values values_;
  ExactValues exact_;
  bool in_head_ = false;
  std::vector<LayerReport> joined_;                // of the passes before
  std::vector<LayerReport> layers_;                // of this one
  std::map<const Step*, std::string> host_steps_;  // that ran on the host, and why
  double reference_seconds_ = 0;
  double device_seconds_ = 0;  // of programs there
  bool any_exact_ = false;
};

}  // namespace gemm64

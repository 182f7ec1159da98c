// SPDX-License-Identifier: Apache-2.0
// What happens at each node of a network that runs with a device.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/execute/executor.hpp"
#include "host/execute/head.hpp"
#include "host/run/job_runner.hpp"
#include "host/run/program_pool.hpp"
#include "host/session/device_products.hpp"
#include "host/session/device_schedule.hpp"
#include "host/session/exact_values.hpp"
#include "host/session/kernel_oracle.hpp"
#include "host/session/wall_clock.hpp"

namespace gemm64 {

/// Runs a network with a device, pass by pass: what the device wrote is what the host, later
/// programs and the outputs take.
///
/// Where programs run side by side and layers are checked, the host goes on with its own results
/// while they run, and each program is compared with them. Where one differs, the pass goes on anew
/// behind it, with what the device wrote, and all that was built on the host's results is
/// forgotten.
class NetworkPass : private KernelOracle {
 public:
  /// Told that a pass has run, with its values; and that only so many passes still count.
  struct Listener {
    std::function<void(std::size_t pass, const Values& values)> ended;
    std::function<void(std::size_t passes)> keep;
  };

  /// `parallel_for`: programs run on several devices, and the host goes on while they do; layers
  /// must be checked.
  NetworkPass(const Executor& executor, JobRunner& runner, const DeviceSchedule& schedule,
              const NetworkInputs& inputs, const NodeObserver& after, const RunProgress& progress,
              bool parallel_for);
  ~NetworkPass() override;
  NetworkPass(const NetworkPass&) = delete;
  NetworkPass& operator=(const NetworkPass&) = delete;

  /// Runs all passes. Throws DeviceError where the device fails.
  void run(const Listener& listener);
  /// The host's products leave a processor to each simulation that runs beside them now.
  void make_room();
  /// The device failed: what the host did ahead of the program that failed is forgotten. Returns
  /// the pass that was under way, counted from 0.
  std::size_t give_up();
  /// What ran on the device, all passes joined.
  std::vector<LayerReport> take_layers();

  /// The float32 network's values of the pass that has ended.
  const ExactValues& exact() const { return at_.exact; }
  /// Is there a float32 value beside another one?
  bool any_exact() const { return any_exact_; }
  double device_seconds() const { return device_seconds_ + products_.seconds(); }
  HostWork host_work() const;
  /// In the graph's order.
  std::vector<HostLayer> host_layers() const;

 private:
  /// A place in the passes, and what is known there.
  struct Place {
    std::size_t pass = 0;
    bool begun = false;
    std::size_t item = 0;  // of the order, the next
    Values values;
    ExactValues exact;
    std::size_t host_steps = 0;  // that have run on the host
  };
  /// A program on its way, and the place behind it, with the host's results of its layers.
  struct HandedOut {
    std::size_t number;
    Place behind;
    std::vector<Tensor> wanted;  // of each layer
  };

  void begin_pass();
  bool run_items();
  void run_program(const PassItem& item);
  void run_sums(const PassItem& item);
  const ProgramRun& program_run(std::size_t number);
  Tensor expected_ahead(const DeviceProgram& program, const DeviceLayer& layer,
                        NamedBuffers given) override;
  void store(const ProgramRun& run, const std::vector<Tensor>& results, Values& values);
  void forget(const PassItem& item);
  bool add_finished(const ProgramResults& found);
  void finish_pass();
  void wait();

  Tensors instead(const Step& step, const Tensors& arguments);
  void add_host_step(const Step& step, const std::string& reason);
  void forget_host_steps(std::size_t behind);
  /// What comes now is of this pass.
  void collect_for(std::size_t pass);
  void add_layers(std::size_t program, std::vector<LayerReport> reports);
  bool checks_layers() const { return runner_.options().check == CheckLevel::kLayers; }
  const Step& step(int node) const { return executor_.steps()[static_cast<std::size_t>(node)]; }
  /// The name of a layer's results, or of the concatenation that they are a part of.
  const std::string& results_of(const DeviceLayer& layer) const {
    return step(layer.gives()).context.node->output(0);
  }
  TensorType type_of(const std::string& value) const { return *executor_.model().type(value); }
  double share_of(double cycles) const {
    const double all = schedule_.all * static_cast<double>(inputs_.passes());
    return all == 0 ? 0 : cycles / all;
  }
  /// The part of the whole that begins now.
  void next(double cycles) { share_.next(share_of(cycles)); }

  const Executor& executor_;
  JobRunner& runner_;
  const DeviceSchedule& schedule_;
  DeviceProducts products_;
  std::vector<std::unique_ptr<ProgramRun>> programs_;
  const NetworkInputs& inputs_;
  const NodeObserver& after_;
  const RunProgress& progress_;
  const JointProgress joint_;
  ProgressShare share_;
  ExecutorHooks hooks_;
  Place at_;
  std::optional<Place> back_;        // to go on from, in place of at_
  std::vector<LayerReport> joined_;  // of the passes before
  std::vector<LayerReport> layers_;  // of pass_
  std::size_t pass_ = 0;             // whose layers come in
  /// A step that ran on the host: after how many others it first did, and why it did.
  struct HostStep {
    std::size_t before;
    std::string reason;
  };
  std::map<const Step*, HostStep> host_steps_;  // in the graph's order
  double reference_seconds_ = 0;
  double device_seconds_ = 0;  // of programs there
  bool any_exact_ = false;
  std::deque<HandedOut> handed_out_;
  std::optional<ProgramPool> pool_;  // the last, so that its threads end first
};

}  // namespace gemm64

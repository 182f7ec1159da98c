// SPDX-License-Identifier: Apache-2.0
// What happens at each node of a network that runs with a device.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/execute/device_schedule.hpp"
#include "host/execute/exact_values.hpp"
#include "host/execute/executor.hpp"
#include "host/execute/program_runs.hpp"
#include "host/run/job_runner.hpp"
#include "host/run/program_pool.hpp"

namespace gemm64 {

using WallClock = std::chrono::steady_clock;

inline double seconds_since(WallClock::time_point begin) {
  return std::chrono::duration<double>(WallClock::now() - begin).count();
}

/// Runs a network with a device, pass by pass.
class NetworkPass {
 public:
  /// `side_by_side`: programs run on several devices, and the host goes on while they do.
  NetworkPass(const Executor& executor, JobRunner& runner, const DeviceSchedule& schedule,
              std::int64_t passes, const NodeObserver& after, const RunProgress& progress,
              bool side_by_side);
  ~NetworkPass();
  NetworkPass(const NetworkPass&) = delete;
  NetworkPass& operator=(const NetworkPass&) = delete;

  ExecutorHooks hooks();
  void begin();
  /// Runs what waits for the end of a pass: all jobs, with --one-program.
  void finish();
  /// The host's products leave a processor to each simulation that runs beside them now.
  void make_room();
  /// Waits for all that was handed out.
  void wait();
  /// The device failed: what the host did ahead of the program that failed is forgotten. Returns
  /// the pass that was under way, counted from 0.
  std::size_t give_up();
  /// What ran on the device, all passes joined.
  std::vector<LayerReport> take_layers();

  const ExactValues& exact() const { return exact_; }
  /// Is there a float32 value beside another one?
  bool any_exact() const { return any_exact_; }
  double device_seconds() const { return device_seconds_; }
  HostWork host_work() const { return host_; }
  std::vector<HostLayer> take_host_layers() { return std::exchange(host_layers_, {}); }

 private:
  Tensors instead(const Step& step, const Tensors& arguments);
  Tensors on_device(const Step& step, const Tensors& arguments);
  Tensors sums_on_device(const Step& step, const Tensors& arguments);
  void add_host_step(const Step& step, const std::string& reason);
  /// What comes now is of this pass.
  void collect_for(std::size_t pass);
  void add_layers(const DeviceProgram& program, const std::vector<LayerReport>& reports);
  void hand_out(const DeviceProgram& program, std::vector<ProgramLayer> layers);
  void run_program(const DeviceProgram& program, std::vector<ProgramLayer> layers);
  std::string why_host(const Step& step, const Tensors& arguments) const;
  double share_of(double clocks) const {
    const double all = schedule_.all * static_cast<double>(passes_);
    return all == 0 ? 0 : clocks / all;
  }
  /// The part of the whole that begins now.
  void next(double clocks) { share_.next(share_of(clocks)); }
  double device_clocks(const Step& step) const {
    return schedule_.on_device[index_of(executor_, step)];
  }

  const Executor& executor_;
  JobRunner& runner_;
  const DeviceSchedule& schedule_;
  const std::int64_t passes_;
  const NodeObserver& after_;
  const RunProgress& progress_;
  const JointProgress joint_;
  ProgressShare share_;
  double next_program_ = 0;              // the part of the whole that it is, side by side
  std::size_t begun_ = 0;                // passes
  std::optional<ProgramRuns> programs_;  // of the pass
  ExactValues exact_;
  std::vector<LayerReport> joined_;   // of the passes before
  std::vector<LayerReport> layers_;   // of pass_
  std::size_t pass_ = 0;              // whose layers come in
  std::set<const Step*> host_steps_;  // a step may run once for each group of images
  std::vector<HostLayer> host_layers_;
  HostWork host_;
  double device_seconds_ = 0;  // of products there, and their preparation
  bool any_exact_ = false;

  /// A program on its way, and what the host had done when it was handed out.
  struct HandedOut {
    const DeviceProgram* program;
    std::size_t pass;
    HostWork host;
    std::size_t host_layers;
  };
  std::deque<HandedOut> handed_out_;
  std::optional<ProgramPool> pool_;  // the last, so that its threads end first
};

}  // namespace gemm64

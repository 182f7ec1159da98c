// SPDX-License-Identifier: Apache-2.0
// The device of gemm64's own program in sessions of ONNX Runtime, and more devices like it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/ep/accelerator.hpp"
#include "host/ep/partition.hpp"
#include "host/runtime/device_schedule.hpp"
#include "host/runtime/dump.hpp"
#include "host/runtime/node_observer.hpp"
#include "host/runtime/progress.hpp"
#include "host/runtime/session.hpp"

namespace gemm64::ep {

/// Runs groups and goes on after values that differ: on the device of a session, or on other
/// devices like it, several groups at a time.
///
/// In parallel, a pass runs twice. First it runs ahead: ONNX Runtime goes on with predicted results
/// of each group while a device runs it. Then it runs with what the devices wrote, which is what
/// counts. A group whose inputs were predicted wrongly runs again there. If a device fails, or a
/// check does not hold, the caller repeats all passes on the session's device, which has run
/// nothing yet. So the report is that of one device.
class SessionAccelerator : public Accelerator {
 public:
  /// A group that ran ahead, on these inputs.
  struct GroupRun {
    const HostNodes* nodes = nullptr;
    NamedTensors inputs;
    std::shared_future<NetworkRun> run;
  };
  /// Those of a pass, in the order in which ONNX Runtime called them.
  using GroupRuns = std::deque<GroupRun>;

  /// `announces`: jobs are collected. `parallel_for`: the devices for groups in parallel; of one
  /// job: none.
  SessionAccelerator(Session& session, bool announces, SideBySide parallel_for)
      : session_(session), announces_(announces), parallel_for_(std::move(parallel_for)) {}

  const Geometry& geometry() const override { return session_.runner().geometry(); }
  CompileOptions compile_options() const override {
    return gemm64::compile_options(session_.runner().options());
  }
  RunReport empty_report() const override { return session_.report("", 0); }
  NamedSizes known_sizes() const override { return sizes_; }
  bool knows_all_sizes() const override { return true; }
  void left_open() override { all_known_ = false; }
  void set_known_sizes(NamedSizes sizes) { sizes_ = std::move(sizes); }

  void compiled(const OnnxModel& model, const Executable& executable) override;
  NetworkRun run(const HostNodes& nodes, const Executable& compiled, NamedTensors inputs) override;
  std::string why_ends(const RunReport& report) const override { return report.error; }

  /// Forgets what was compiled: another session begins.
  void reset();
  /// Nodes of groups, in QOperator form.
  const NamedNodes& nodes() const { return nodes_; }

  /// Calls `action` when the next group begins on the session's device; nullptr: nothing.
  void at_next_group(std::function<void()> action) { at_next_group_ = std::move(action); }
  /// Begins `passes` runs of the network, on the session's device.
  void begin(std::int64_t passes, const RunProgress& progress, ActivationDump* dump);
  /// Returns why `passes` runs cannot use several devices; empty if they can.
  std::string why_one_job(std::int64_t passes, bool dumps) const;
  /// Passes use the other devices from now on.
  void begin_parallel();
  /// Stops the groups that run; passes use the session's device from now on.
  void end_parallel();
  /// Runs a pass ahead by `pass`, on this thread; returns its groups when all have run. May be
  /// called on several threads.
  GroupRuns run_ahead(const std::function<void()>& pass);
  /// The next pass takes these groups' results if its inputs are theirs.
  void replay(GroupRuns runs) { replayed_ = std::move(runs); }
  /// Did one of the other devices fail, or a check not hold?
  bool failed() const { return failed_; }
  std::size_t jobs() const { return parallel_for_.jobs; }

  const std::vector<Job>& announced() const { return jobs_; }
  /// Are these all that will run?
  bool all_known() const { return all_known_; }
  /// Of wall time, in groups.
  double seconds() const { return seconds_; }
  /// The exception that ended a group's run, since ONNX Runtime keeps its text only.
  const std::exception_ptr& error() const { return error_; }

 private:
  /// A device for groups in parallel.
  struct Worker {
    Worker(const SideBySide& of, const RunOptions& options)
        : device(of.make()), driver(*device, of.timeouts), runner(*device, driver, options) {}
    const std::unique_ptr<Device> device;
    Driver driver;
    JobRunner runner;
  };

  static bool whole(const Executable& executable) { return executable.options.why_sums.empty(); }
  NetworkRun run_by(JobRunner& runner, const HostNodes& nodes, const Executable& compiled,
                    NamedTensors inputs, const RunProgress& progress) const;
  NetworkRun run_now(const HostNodes& nodes, const Executable& compiled, NamedTensors inputs);
  NetworkRun run_in_pass_ahead(const HostNodes& nodes, const Executable& compiled,
                               const NamedTensors& inputs);
  std::shared_future<NetworkRun> start(const HostNodes& nodes, const Executable& compiled,
                                       NamedTensors inputs);
  std::optional<NetworkRun> replayed(const HostNodes& nodes, const NamedTensors& inputs);
  std::unique_ptr<Worker> take_worker();
  void put_back(std::unique_ptr<Worker> worker);
  double share() const { return all_ == 0 ? 0 : 1 / all_; }

  Session& session_;
  const bool announces_;
  const SideBySide parallel_for_;
  NamedSizes sizes_;
  std::mutex mutex_;  // of the session's device, and of the workers
  std::size_t groups_ = 0, predictable_ = 0;
  bool all_known_ = true;
  std::size_t finished_ = 0;
  double all_ = 0;  // groups of all passes
  double seconds_ = 0;
  std::vector<Job> jobs_;
  NamedNodes nodes_;
  RunProgress progress_;
  std::optional<JointProgress> joint_;
  NodeObserver after_;
  std::function<void()> at_next_group_;
  std::exception_ptr error_;

  bool parallel_ = false;
  std::atomic<bool> stops_ = false, failed_ = false;
  GroupRuns replayed_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Worker>> free_;
  std::size_t workers_ = 0;
};

}  // namespace gemm64::ep

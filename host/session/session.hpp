// SPDX-License-Identifier: Apache-2.0
// A network on a device: the one way in which it is opened, checked and run.
#pragma once

#include <optional>
#include <string>

#include "host/driver/driver.hpp"
#include "host/run/job_runner.hpp"
#include "host/session/network_run.hpp"
#include "host/session/run_settings.hpp"

namespace gemm64 {

class Session {
 public:
  /// A session on a device, which outlives it, of the registry's kind `kind`. `run` holds the
  /// device's memory and who is told what; the rest of it follows from the settings. Throws
  /// UsageError where settings do not fit together.
  Session(Device& device, const std::string& kind, const Timeouts& timeouts,
          const RunSettings& settings, RunOptions run, Spelling spelling = Spelling::kOption);

  bool is_host_only() const { return host_only_; }
  JobRunner& runner() { return runner_; }

  /// Throws UsageError where the device has no room for a product whose shape the model tells.
  void check(const OnnxModel& model) const;

  /// The network of run(), in QOperator form where it is quantized; the float network to compare it
  /// with; and what it was compiled to, by who has that. nullptr: none. All outlive the session.
  void open(const OnnxModel& model, const OnnxModel* exact = nullptr,
            const Executable* compiled = nullptr);
  const Executor& executor() const { return *executor_; }

  /// A report without layers.
  RunReport report(const std::string& model, std::uint64_t batch) const;

  /// Runs the network, once or once for each image (run_network() and run_on_host() say what that
  /// gives), and adds it to `report`.
  NetworkRun run(const NetworkInputs& inputs, RunReport report, const NodeObserver& after = nullptr,
                 const RunProgress& progress = nullptr);

 private:
  const RunSettings settings_;
  const bool host_only_;
  Driver driver_;
  JobRunner runner_;
  std::optional<Executor> executor_, exact_;
  const Executable* compiled_ = nullptr;
};

}  // namespace gemm64

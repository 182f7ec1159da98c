// SPDX-License-Identifier: Apache-2.0
// The device of a session, with the faults and the waveform that its options ask for.
#pragma once

#include <memory>
#include <mutex>

#include "host/ep/options.hpp"
#include "host/execute/executor.hpp"
#include "host/session/network_run.hpp"

namespace gemm64::ep {

class Accelerator {
 public:
  /// Throws UsageError where there is no such device.
  explicit Accelerator(const ProviderOptions& options);

  const ProviderOptions& options() const { return options_; }
  const Geometry& geometry() const { return geometry_; }
  /// What a network's compilation depends on, besides the geometry.
  CompileOptions compile_options() const;

  /// A report of this device, without layers.
  RunReport empty_report() const;

  /// Runs a network in QOperator form that was compiled for this device; from a reset. One run at a
  /// time: others wait. Throws UsageError where it cannot run, Interrupted after Ctrl-C; a failure
  /// of the device is in the report.
  NetworkRun run(const OnnxModel& model, const Executable& compiled, NamedTensors inputs);

 private:
  NetworkRun run_alone(const OnnxModel& model, const Executable& compiled, NamedTensors inputs);
  RunOptions run_options();

  const ProviderOptions options_;
  std::unique_ptr<Device> device_;
  Geometry geometry_;
  std::mutex mutex_;
};

/// What is wrong of a run, for an exception; empty where all that was checked held.
std::string why_failed(const RunReport& report);

}  // namespace gemm64::ep

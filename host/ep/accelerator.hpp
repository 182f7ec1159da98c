// SPDX-License-Identifier: Apache-2.0
// The device of a session: one of its own, with the faults and the waveform that its options ask
// for, or one that another class has.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/compile/executable.hpp"
#include "host/ep/options.hpp"
#include "host/graph/onnx/host_nodes.hpp"
#include "host/runtime/network_run.hpp"

namespace gemm64::ep {

/// What a session of ONNX Runtime's runs its groups on.
class Accelerator {
 public:
  Accelerator() = default;
  virtual ~Accelerator() = default;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  virtual const Geometry& geometry() const = 0;
  /// What a network's compilation depends on, besides the geometry.
  virtual CompileOptions compile_options() const = 0;
  /// A report of this device, without layers.
  virtual RunReport empty_report() const = 0;
  /// Sizes that inputs of the session's network will have, by the names of its open dimensions.
  virtual std::map<std::string, std::int64_t> known_sizes() const { return {}; }
  /// Are these all that are open?
  virtual bool knows_all_sizes() const { return false; }

  /// Is called with each network that was compiled for run() before its session runs.
  virtual void compiled(const OnnxModel& model, const Executable& executable);

  /// Is called if one is not compiled before its inputs come.
  virtual void left_open() {}

  /// Runs a network in QOperator form that was compiled for this device. One run at a time: others
  /// wait. Throws UsageError where it cannot run; a failure of the device is in the report.
  virtual NetworkRun run(const HostNodes& nodes, const Executable& compiled,
                         NamedTensors inputs) = 0;
  /// Returns why the run of the session ends after this report; empty where it goes on.
  virtual std::string why_ends(const RunReport& report) const = 0;
};

/// A device that the session's options name, with a reset before each run. It throws Interrupted
/// after Ctrl-C, and ends at all that does not hold.
class OwnedAccelerator : public Accelerator {
 public:
  /// Throws UsageError where there is no such device.
  explicit OwnedAccelerator(const ProviderOptions& options);

  const Geometry& geometry() const override { return geometry_; }
  CompileOptions compile_options() const override;
  RunReport empty_report() const override;
  NetworkRun run(const HostNodes& nodes, const Executable& compiled, NamedTensors inputs) override;
  std::string why_ends(const RunReport& report) const override;

 private:
  NetworkRun run_alone(const HostNodes& nodes, const Executable& compiled,
                       const NamedTensors& inputs);
  RunOptions run_options();

  const ProviderOptions options_;
  std::unique_ptr<Device> device_;
  Geometry geometry_;
  std::mutex mutex_;
};

}  // namespace gemm64::ep

// SPDX-License-Identifier: Apache-2.0
// A device and its settings, for networks that run on it.
#pragma once

#include <string>

#include "host/driver/driver.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/runtime/run_settings.hpp"

namespace gemm64 {

class Session {
 public:
  /// A session on a device, which outlives it, of the registry's kind `kind`. `run` holds the
  /// device's memory and the observers; the rest of it follows from the settings. Throws
  /// UsageError where settings do not fit together.
  Session(Device& device, const std::string& kind, const Timeouts& timeouts,
          const RunSettings& settings, RunOptions run, Spelling spelling = Spelling::kOption);

  bool is_host_only() const { return host_only_; }
  JobRunner& runner() { return runner_; }

  /// Throws UsageError where the device has no room for a product whose shape the model has.
  void check(const OnnxModel& model) const;

  /// A report without layers.
  RunReport report(const std::string& model, std::uint64_t batch) const;

 private:
  const RunSettings settings_;
  const bool host_only_;
  Driver driver_;
  JobRunner runner_;
};

}  // namespace gemm64

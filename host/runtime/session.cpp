// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/session.hpp"

#include <utility>

#include "host/runtime/device_schedule.hpp"

namespace gemm64 {
namespace {

/// With ONNX Runtime, the one program of all groups ends after the network.
RunOptions of_groups(RunOptions run) {
  run.finishes_later = true;
  return run;
}

const RunSettings& checked(const RunSettings& settings, const std::string& kind,
                           Spelling spelling) {
  settings.check_together(kind, spelling);
  return settings;
}

}  // namespace

Session::Session(Device& device, const std::string& kind, const Timeouts& timeouts,
                 const RunSettings& settings, RunOptions run, Spelling spelling)
    : settings_(checked(settings, kind, spelling)),
      host_only_(settings.is_host_only(kind)),
      driver_(device, timeouts),
      runner_(device, driver_, settings.applied_to(of_groups(std::move(run)))) {
  if (!host_only_) driver_.read_tensor_words();
}

void Session::check(const OnnxModel& model) const {
  if (host_only_) return;
  jobs_of(model, runner_, compile(model, runner_.geometry(), compile_options(runner_.options())));
}

RunReport Session::report(const std::string& model, std::uint64_t batch) const {
  if (!host_only_) return runner_.report(model, batch);
  RunReport report;
  report.model = model;
  report.device = "host";
  report.check = settings_.check;
  report.precision = settings_.precision;
  report.batch = batch;
  return report;
}

}  // namespace gemm64

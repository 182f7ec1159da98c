// SPDX-License-Identifier: Apache-2.0
#include "host/session/session.hpp"

#include <utility>

namespace gemm64 {
namespace {

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
      runner_(device, driver_, settings.applied_to(std::move(run))) {}

void Session::check(const OnnxModel& model) const {
  if (!host_only_) check_jobs(model, runner_);
}

void Session::open(const OnnxModel& model, const OnnxModel* exact, const Executable* compiled) {
  executor_.emplace(model);
  compiled_ = compiled;
  exact_.reset();
  if (exact != nullptr) exact_.emplace(*exact);
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

NetworkRun Session::run(const NetworkInputs& inputs, RunReport report, const NodeObserver& after,
                        const RunProgress& progress) {
  for (const std::string& note : inputs.nans) {
    report.warnings.push_back(note + "; results that depend on them are meaningless");
  }
  if (host_only_) return run_on_host(*executor_, inputs, std::move(report), after, progress);
  NetworkRun run = run_network(*executor_, inputs, runner_, std::move(report), after, progress,
                               exact_ ? &*exact_ : nullptr, compiled_);
  run.report.failure = runner_.failure();
  return run;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/ep/accelerator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <limits>
#include <optional>

#include "host/driver/driver.hpp"
#include "host/ep/interruption.hpp"
#include "host/report/progress.hpp"
#include "host/runtime/device_schedule.hpp"
#include "host/runtime/group_run.hpp"
#include "host/util/error.hpp"
#include "sim/models/devices.hpp"

namespace gemm64::ep {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

TraceOptions trace_of(const ProviderOptions& options) {
  TraceOptions trace{options.trace, 0, kNever};
  const std::string& window = options.trace_window;
  if (window.empty()) return trace;
  const char* const end = window.data() + window.size();
  const auto first = std::from_chars(window.data(), end, trace.begin);
  const bool has_colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  const auto last = has_colon ? std::from_chars(first.ptr + 1, end, trace.end) : first;
  if (!has_colon || last.ec != std::errc() || last.ptr != end || trace.end <= trace.begin) {
    throw UsageError(
        fmt::format("option trace_window is '{}'; it must be two cycles, A:B with A < B", window));
  }
  return trace;
}

std::unique_ptr<Device> make_inspected_device(const ProviderOptions& options) {
  const DeviceKind kind = devices().find(options.device, options);
  if (options.trace.empty() && options.faults.empty()) return kind.make(options);
  std::unique_ptr<DebugDevice> device = kind.make_inspectable(options, trace_of(options));
  for (const Fault& fault : options.faults) device->inject(fault);
  return device;
}

Timeouts timeouts_of(const ProviderOptions& options) {
  return {options.memory.latency, options.watchdog};
}

}  // namespace

void Accelerator::compiled(const OnnxModel&, const Executable&) {}

OwnedAccelerator::OwnedAccelerator(const ProviderOptions& options)
    : options_(options),
      device_(make_inspected_device(options)),
      geometry_(read_design_geometry(*device_)) {}

RunOptions OwnedAccelerator::run_options() {
  RunOptions run;
  run.memory = options_.memory;
  const DeviceKind kind = devices().find(options_.device);
  run.memory.is_modelled = !kind.is_board;
  if (!kind.is_inspectable()) return run;
  run.investigate = [this, kind](const JobRun& job, Failure& failure) {
    const auto make = [&](bool) {
      std::unique_ptr<DebugDevice> device =
          kind.make_inspectable(options_, {"", kNever - 1, kNever});
      for (const Fault& fault : options_.faults) device->inject(fault);
      return device;
    };
    try {
      investigate(job, make, timeouts_of(options_), failure);
    } catch (const UsageError& error) {  // the failure is worth more than its diagnosis
      failure.note = error.what();
    }
  };
  return run;
}

CompileOptions OwnedAccelerator::compile_options() const {
  CompileOptions options = gemm64::compile_options(options_.applied_to({}));
  options.rate = rate_of(options_.memory);
  options.memory = options_.memory;
  if (options.floats == CompileOptions::Floats::kAsTheFile && options.why_no_floats.empty()) {
    options.why_no_floats =
        "it is float32, in which other providers compute; with option precision the device does";
  }
  return options;
}

RunReport OwnedAccelerator::empty_report() const {
  RunReport report;
  report.device = options_.device;
  report.check = options_.check;
  report.precision = options_.precision;
  report.accumulate = options_.accumulate;
  report.geometry = geometry_;
  report.memory = options_.memory;
  return report;
}

NetworkRun OwnedAccelerator::run(const HostNodes& nodes, const Executable& compiled,
                                 NamedTensors inputs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  NetworkRun made = run_alone(nodes, compiled, inputs);
  // A memory that hangs needs a hard reset. Faults that were injected are over, and the waveform.
  if (!made.report.error.empty()) {
    device_.reset();
    device_ = devices().find(options_.device, options_).make(options_);
  }
  return made;
}

NetworkRun OwnedAccelerator::run_alone(const HostNodes& nodes, const Executable& compiled,
                                       const NamedTensors& inputs) {
  const Interruption interruption;
  Driver driver(*device_, timeouts_of(options_));
  JobRunner runner(*device_, driver, options_.applied_to(run_options()));
  std::optional<ProgressBar> bar;
  if (options_.progress && isatty(STDERR_FILENO) != 0) bar.emplace();
  const RunProgress progress = [&](const std::string& name, double done) {
    interruption.check();
    if (bar) bar->show(name, done);
  };
  const bool has_rows = !inputs.empty() && inputs.begin()->second.rank() != 0;
  const auto rows = has_rows ? static_cast<std::uint64_t>(inputs.begin()->second.dim(0)) : 1;
  return run_group(nodes, compiled, runner, inputs, runner.report(nodes.model().name(), rows),
                   progress);
}

std::string OwnedAccelerator::why_ends(const RunReport& report) const {
  if (!report.error.empty()) return report.error;
  if (report.check == CheckLevel::kNone || report.layers.empty() || report.held()) return "";
  if (report.failure) return describe(*report.failure);
  if (report.outputs.mismatches != 0) {
    return fmt::format(
        "{} of {} values of the outputs are not those of the host; the first are in '{}'",
        report.outputs.mismatches, report.outputs.values, report.outputs.first);
  }
  return "a layer's values, cycles or bytes are not as they must be; see the report";
}

}  // namespace gemm64::ep

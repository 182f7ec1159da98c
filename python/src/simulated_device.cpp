// SPDX-License-Identifier: Apache-2.0
#include "python/src/simulated_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/device/reference_device.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"
#include "sim/models/devices.hpp"
#include "sim/models/rtl_device.hpp"

namespace gemm64::python {
namespace {

// Of the simulation between two looks for signals: at most a second of the slowest.
constexpr std::uint64_t kCyclesAtOnce = 1 << 14;
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::unique_ptr<Device> make(const DeviceSettings& settings) {
  const DeviceKind& kind = devices().find(settings.device, settings);
  if (settings.memory.latency == 0) throw UsageError("memory_latency is 0; it is at least 1 cycle");
  if (!settings.debug) return kind.make(settings);
  return devices().find_inspectable(settings.device, "debug=True").make_inspectable(settings, {});
}

}  // namespace

SimulatedDevice::SimulatedDevice(const DeviceSettings& settings)
    : settings_(settings), device_(make(settings)), rtl_(dynamic_cast<RtlDevice*>(device_.get())) {}

SimulatedDevice::~SimulatedDevice() = default;

RtlDevice& SimulatedDevice::rtl(const char* wanted_for) {
  if (rtl_ != nullptr) return *rtl_;
  throw UsageError(fmt::format("{} needs the RTL's signals: Device(\"rtl\"); '{}' has none",
                               wanted_for, settings_.device));
}

void SimulatedDevice::look_again(const JobRun& run, Failure& failure) const {
  const DeviceKind& kind = devices().find(settings_.device);
  if (!kind.is_inspectable()) return;
  const auto make = [&](bool traced) {
    TraceOptions trace;  // begins when the moment is known
    if (traced) trace = {settings_.trace_mismatch, kNever - 1, kNever};
    std::unique_ptr<DebugDevice> device = kind.make_inspectable(settings_, trace);
    for (const Fault& fault : faults_) device->inject(fault);
    return device;
  };
  try {
    investigate(run, make, timeouts(), failure);
    const std::string& file = settings_.trace_mismatch;
    const bool found = failure.finding.place != Finding::Place::kNone;
    if (found && !file.empty() && !is_lost(file)) failure.trace_file = file;
  } catch (const UsageError& error) {  // the failure is worth more than what cannot be written
    failure.note = error.what();
  }
}

Product SimulatedDevice::multiply(const MatrixI8& a, const MatrixI8& w, Accumulate accumulate) {
  RunOptions options;
  options.memory = settings_.memory;
  options.memory.is_modelled = !devices().find(settings_.device).is_board;
  options.accumulate = accumulate;
  options.results = ResultCode::kInt32;
  options.investigate = [this](const JobRun& run, Failure& failure) { look_again(run, failure); };
  const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
  const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
  Driver driver(*device_, timeouts());
  JobRunner runner(*device_, driver, options);
  SignalCheck check;
  ProgressShare progress([&check](const std::string&, double) { check(); });
  progress.next(1);
  Product product;
  product.report = runner.report("matmul", 1);
  product.report.layers.push_back(
      runner.run(runner.job("matmul", shape), a, w, product.sums, progress));
  product.report.failure = runner.failure();
  return product;
}

Counters SimulatedDevice::counters() {
  Counters values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t offset = kCounters[i].offset;
    std::uint32_t high = device_->read_register(offset + 4);
    for (;;) {
      const std::uint32_t low = device_->read_register(offset);
      const std::uint32_t again = device_->read_register(offset + 4);
      values[i] = std::uint64_t{high} << 32 | low;
      if (again == high) break;
      high = again;  // the low half has just gone past its end
    }
  }
  return values;
}

void SimulatedDevice::step(std::uint64_t cycles) {
  auto* const tlm = dynamic_cast<TlmDevice*>(device_.get());
  if (rtl_ == nullptr && tlm == nullptr) {
    throw UsageError(fmt::format("device '{}' has no notion of time; give \"rtl\" or \"tlm\"",
                                 settings_.device));
  }
  SignalCheck check;
  while (cycles != 0) {
    const std::uint64_t now = std::min(cycles, kCyclesAtOnce);
    if (rtl_ != nullptr) {
      rtl_->run(now);
    } else {
      tlm->run(now);
    }
    cycles -= now;
    check();
  }
}

bool SimulatedDevice::wait_interrupt(std::uint64_t max_cycles) {
  if (!devices().find(settings_.device).has_cycles) return device_->wait_interrupt(max_cycles);
  SignalCheck check;
  for (;;) {
    const std::uint64_t now = std::min(max_cycles, kCyclesAtOnce);
    if (device_->wait_interrupt(now)) return true;
    max_cycles -= now;
    if (max_cycles == 0) return false;
    check();
  }
}

bool SimulatedDevice::interrupt() const {
  if (rtl_ != nullptr) return rtl_->interrupt();
  if (const auto* tlm = dynamic_cast<const TlmDevice*>(device_.get())) return tlm->interrupt();
  return dynamic_cast<const ReferenceDevice&>(*device_).interrupt();
}

void SimulatedDevice::inject(const std::string& text) {
  RtlDevice& device = rtl("a fault");
  const Fault fault = parse_fault(text);
  check_fault(fault, geometry_of_array(settings_.array));
  if (fault.clock < device.cycles()) {
    throw UsageError(fmt::format("{}: the device is at cycle {}", text, device.cycles()));
  }
  try {
    device.inject(fault);
    faults_.push_back(fault);
  } catch (const std::logic_error&) {
    throw UsageError("this build takes no faults; give Device(..., debug=True)");
  }
}

void SimulatedDevice::start_trace(const std::string& file, std::uint64_t begin, std::uint64_t end) {
  RtlDevice& device = rtl("a waveform");
  try {
    device.start_trace(file, begin, end);
  } catch (const std::logic_error&) {
    throw UsageError("this build has no waveforms; give Device(..., debug=True)");
  }
  trace_file_ = file;
}

void SimulatedDevice::end_trace() {
  rtl("a waveform").end_trace();
  const std::string file = std::exchange(trace_file_, "");
  if (!file.empty() && is_lost(file)) {
    throw OutputError(file, file + ": the waveform is lost: no space is left, or the disk failed");
  }
}

NamedSignals SimulatedDevice::signals() { return rtl("a signal").signals(); }

Use::Use(std::atomic<bool>& used) : used_(used) {
  if (used_.exchange(true)) {
    throw std::runtime_error("another thread uses this device; give each thread one of its own");
  }
}

}  // namespace gemm64::python

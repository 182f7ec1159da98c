// SPDX-License-Identifier: Apache-2.0
// The device of one run, with all that looks into it: traces, timeline, faults, failure files.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/check/clock_check.hpp"
#include "host/check/tile_trace.hpp"
#include "host/check/timeline.hpp"
#include "host/cli/options.hpp"
#include "host/runtime/run_options.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// The exit code of a run that was not to compare anything.
inline constexpr int kNotChecked = 4;

class InspectedDevice {
 public:
  /// Builds the device that the options name. `command` and `own` tell a failure file what ran: the
  /// command's name and the options that only it has. Throws UsageError where options do not fit
  /// together, name places that do not exist, or files that cannot be written.
  InspectedDevice(const CommonOptions& options, std::string command, nlohmann::ordered_json own);

  Device& device() { return *device_; }

  /// How long a driver of this device should wait.
  Timeouts timeouts() const { return {options_.memory.latency, options_.debug.watchdog}; }

  /// Why this device must run all, in its order; empty where others may run some of it.
  std::string why_one_job() const;

  /// More devices like this one, for programs in parallel; `jobs` with this one. Just this one
  /// where why_one_job() says so.
  SideBySide parallel_for(unsigned jobs) const;

  /// The settings of a runner on this device.
  RunOptions run_options();

  /// Ends the run: the device is gone, its files are written, the report's tables are printed and
  /// its JSON and its page written. Returns the exit code: 2 where a window, a tile or a fault was
  /// asked for that never came, else 1 where something did not hold, or nothing was checked (a
  /// network without a layer on the device), unless that is allowed; kNotChecked where all held,
  /// but no value was to be compared.
  int finish(RunReport report, OutputFile* json, bool allow_host_only = false);

 private:
  void observe();
  std::unique_ptr<DebugDevice> make_debug_device(bool traced) const;
  void investigate(const JobRun& run, Failure& failure);
  std::vector<std::string> find_problems(std::uint64_t cycles) const;
  /// Of a run that ended at `cycles`.
  void print_faults(const RunReport& report, std::uint64_t cycles) const;
  void write_trace_view() const;
  void write_page(const nlohmann::ordered_json& report) const;

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const CommonOptions options_;
  const std::string command_;
  const nlohmann::ordered_json own_;
  std::unique_ptr<OutputFile> page_;  // of --report
  std::vector<Fault> faults_;
  std::uint64_t window_begin_ = 0;  // of --trace
  Geometry geometry_;
  std::filesystem::path failure_file_;  // its waveform
  std::unique_ptr<Device> device_;
  DebugDevice* inspected_ = nullptr;  // the same, where it can be looked into
  bool failed_ = false;               // a job
  ClockCheck clock_check_;
  std::unique_ptr<Timeline> timeline_;
  std::optional<TileTrace> tile_;
};

}  // namespace gemm64

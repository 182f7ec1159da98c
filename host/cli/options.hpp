// SPDX-License-Identifier: Apache-2.0
// Options that `run` and `gemm` share, and the devices that they name.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/debug/timeline.hpp"
#include "host/device/device.hpp"
#include "host/report/output_file.hpp"
#include "host/run/runner.hpp"

namespace gemm64 {

struct DeviceOptions {
  std::string device = "rtl";
  int array = 64;
  std::uint32_t seed = 1;
  std::uint32_t memory_latency = 100;
  std::uint32_t memory_bytes_per_cycle = 0;
  double memory_stalls = 0;
  std::string trace;
  std::string trace_window;
  std::string timeline;
};

struct CommonOptions : DeviceOptions {
  Precision precision = Precision::kInt8;
  Accumulate accumulate = Accumulate::kDevice;
  std::int64_t batch = 1;
  std::string json;
  bool engines = false;

  RunOptions run_options() const;
};

void add_device_options(CLI::App& app, DeviceOptions& options);
void add_common_options(CLI::App& app, CommonOptions& options);

/// Builds the device that the options name. Throws UsageError where they do not fit together.
std::unique_ptr<Device> make_device(const DeviceOptions& options);

/// The timeline for --timeline, its file opened at once; nothing where it was not asked for.
std::unique_ptr<Timeline> open_timeline(const DeviceOptions& options);

/// The runner's options; `timeline`, where there is one, is shown the clocks of `device` (from
/// make_device) and told of the products.
RunOptions observed_run(const CommonOptions& options, Device& device, Timeline* timeline);

/// The file for --json, opened at once; nothing where it was not asked for.
std::unique_ptr<OutputFile> open_json(const std::string& path);

/// Prints the report's tables, writes --json and --timeline where asked for, and returns the exit
/// code.
int finish_report(const RunReport& report, const CommonOptions& options, OutputFile* json,
                  Timeline* timeline);

}  // namespace gemm64

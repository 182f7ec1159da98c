// SPDX-License-Identifier: Apache-2.0
// Options that `run` and `gemm` share, and the devices that they name.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/cli/debug_options.hpp"
#include "host/device/device.hpp"
#include "host/output_file.hpp"
#include "host/run/runner.hpp"
#include "sim/rtl_device.hpp"

namespace gemm64 {

/// The largest M, K, N and batch.
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;

struct DeviceOptions {
  std::string device = "rtl";
  int array = 64;
  std::uint32_t seed = 1;
  std::uint32_t memory_latency = 100;
  std::uint32_t memory_bytes_per_cycle = 0;
  double memory_stalls = 0;
};

/// Runs one product of a run alone, beginning in the clock in which it did then.
struct Replay {
  std::size_t product = 0;  // counted from 0
  std::uint64_t first_clock = 0;
};

struct CommonOptions : DeviceOptions {
  Precision precision = Precision::kInt8;
  Accumulate accumulate = Accumulate::kDevice;
  std::int64_t batch = 1;
  std::string json;
  bool engines = false;
  DebugOptions debug;
  std::optional<Replay> replay;

  RunOptions run_options() const;
};

void add_device_options(CLI::App& app, DeviceOptions& options);
void add_common_options(CLI::App& app, CommonOptions& options);

/// The simulation that the options name, without traces.
RtlOptions rtl_options(const DeviceOptions& options);

/// Builds the device that the options name.
std::unique_ptr<Device> make_device(const DeviceOptions& options);

/// The file for --json, opened at once; nothing where it was not asked for.
std::unique_ptr<OutputFile> open_json(const std::string& path);

/// Prints the report's tables, writes --json where asked for, and returns the exit code.
int finish_report(RunReport report, const CommonOptions& options, OutputFile* json);

}  // namespace gemm64

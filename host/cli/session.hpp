// SPDX-License-Identifier: Apache-2.0
// The device of one run, with all that looks into it: traces, timeline, faults, failure files.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/options.hpp"
#include "host/debug/debug_device.hpp"
#include "host/debug/tile_trace.hpp"
#include "host/debug/timeline.hpp"
#include "host/run/runner.hpp"

namespace gemm64 {

class Session {
 public:
  /// Builds the device that the options name. `command` and `own` tell a failure file what ran: the
  /// command's name and the options that it alone has. Throws UsageError where options do not fit
  /// together, name places that do not exist, or files that cannot be written.
  Session(const CommonOptions& options, std::string command, nlohmann::ordered_json own);

  Device& device() { return *device_; }

  /// What a runner on this device must be told.
  RunOptions run_options();

  /// Ends the run: the device is gone, its files are written, and their names printed. Throws
  /// UsageError where a window, a tile or a fault was asked for that never came.
  void finish();

 private:
  std::unique_ptr<DebugDevice> make_debug_device(bool traced) const;
  void investigate(const ProductRun& product, Failure& failure);

  const CommonOptions options_;
  const std::string command_;
  const nlohmann::ordered_json own_;
  std::vector<Fault> faults_;
  std::uint64_t window_begin_ = 0;  // of --trace
  Geometry geometry_;
  std::filesystem::path failure_file_;  // its waveform
  std::unique_ptr<Device> device_;
  DebugDevice* debug_ = nullptr;  // the same, where it can be looked into
  bool failed_ = false;           // a product
  std::unique_ptr<Timeline> timeline_;
  std::optional<TileTrace> tile_;
};

}  // namespace gemm64

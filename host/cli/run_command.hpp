// SPDX-License-Identifier: Apache-2.0
// `run`: a whole network, its Linear layers on the device.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/inspected_device.hpp"
#include "host/cli/judged_images.hpp"
#include "host/cli/network_source.hpp"
#include "host/ep/network_session.hpp"
#include "host/report/progress.hpp"
#include "host/runtime/dump.hpp"
#include "host/runtime/network_output.hpp"
#include "host/runtime/session.hpp"

namespace gemm64 {

/// A network with its inputs, from its options to its report.
class NetworkCommand {
 public:
  /// Reads all that is to be read and opens all that is to be written. Throws UsageError where
  /// something cannot be, or options do not fit together.
  explicit NetworkCommand(NetworkOptions options);

  const NetworkOptions& options() const { return options_; }
  const NetworkSource& source() const { return source_; }
  /// Without layers, as a run begins with it.
  RunReport report() const { return session_.report(source_.name, source_.batch); }
  /// Ends the bar that the constructor began.
  void erase_bar() { bar_.erase(); }

  /// Runs the network, all images of it.
  NetworkRun run();
  /// Judges the run, writes and prints its outputs and reports; returns the exit code. To be called
  /// once.
  int finish(NetworkRun run);

 private:
  const NetworkOptions options_;
  ClaimedFiles files_;
  NetworkOutputs outputs_;
  std::unique_ptr<OutputFile> json_;
  InspectedDevice device_;
  Session session_;
  ProgressBar bar_;
  const NetworkSource source_;
  const JudgedImages judged_;
  std::optional<ActivationDump> dump_;
  std::optional<ep::NetworkSession> onnxruntime_;
};

/// Runs and checks it; returns the exit code.
int run_network_command(const NetworkOptions& options);

/// The command line after `run`. Throws UsageError as the program does, and where it
/// asks for help.
NetworkOptions parse_network_options(const std::vector<std::string>& arguments);

/// The options of a failure's file. Throws UsageError where they are not there.
NetworkOptions read_network_options(const CommonOptions& common, const nlohmann::json& own);

}  // namespace gemm64

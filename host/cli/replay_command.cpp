// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/failure_file.hpp"
#include "host/cli/gemm_command.hpp"
#include "host/cli/run_command.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

struct ReplayCommand {
  std::string file;
  std::string trace;
  std::string view;
  std::string json;
};

std::string absolute(const std::string& path) {
  return path.empty() || path == "-" ? path : fs::absolute(path).string();
}

int replay(const ReplayCommand& options) {
  const std::string trace = options.trace.empty()
                                ? fs::path(options.file).replace_extension(".fst").string()
                                : options.trace;
  ClaimedFiles files;
  files.input("the failure", options.file);
  files.output("--trace", trace);
  claim_views(files, save_file_of(trace).string());
  files.output("--json", options.json);
  RecordedFailure recorded = read_failure(options.file);
  CommonOptions& common = recorded.options;
  common.debug.view = options.view;
  // The run's files are found from where it was.
  common.debug.trace_mismatch = absolute(trace);
  common.json = absolute(options.json);
  std::error_code gone;
  fs::current_path(recorded.directory, gone);
  try {
    if (recorded.command == "gemm") return run_gemm(read_gemm_options(common, recorded.own));
    if (recorded.command == "run")
      return run_network_command(read_network_options(common, recorded.own));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", options.file, error.what()));
  }
  throw UsageError(fmt::format("{}: command is '{}'; it may be 'gemm' or 'run'", options.file,
                               recorded.command));
}

}  // namespace

void add_replay_command(CLI::App& app, int& result) {
  auto options = std::make_shared<ReplayCommand>();
  CLI::App* command = app.add_subcommand(
      "replay", "runs a failed product again, by itself, and traces where it goes wrong");
  command->add_option("failure", options->file, "failure.json, as run and gemm write it")
      ->required();
  command->add_option("--trace", options->trace,
                      "writes the waveform to this FST file (default: next to the failure's file)");
  command->add_option(
      "--view", options->view,
      "what the save file shows: overview, array, commands, axi, accumulator or lanes");
  command->add_option("--json", options->json, "writes the report to this file");
  command->callback([options, &result] {
    result = run_in_child(options->file, [&] { return replay(*options); });
  });
  command->footer(
      "Exit codes: 0 it did not fail again, 1 it did, 2 bad usage or input, 3 an output was lost.");
}

}  // namespace gemm64

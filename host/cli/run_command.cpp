// SPDX-License-Identifier: Apache-2.0
#include "host/cli/run_command.hpp"

#include <fmt/format.h>

#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/failure_file.hpp"
#include "host/cli/session.hpp"
#include "host/console.hpp"
#include "host/error.hpp"
#include "host/execute/dump.hpp"
#include "host/execute/network_input.hpp"
#include "host/execute/network_output.hpp"
#include "host/execute/network_run.hpp"
#include "host/execute/operators.hpp"
#include "host/files/claimed_files.hpp"
#include "host/onnx/networks.hpp"
#include "host/onnx/supported.hpp"
#include "host/report/progress.hpp"

namespace gemm64 {
namespace {

nlohmann::ordered_json own_options(const NetworkOptions& options) {
  nlohmann::ordered_json own;
  if (options.model.empty()) {
    own = {{"network", options.network}, {"data", options.data}};
  } else {
    own = {{"model", options.model}, {"inputs", options.inputs}};
  }
  if (options.one_program) own["one_program"] = true;
  return own;
}

void check_one_program(const NetworkOptions& options) {
  if (!options.one_program) return;
  const auto refuse = [](const std::string& with) {
    throw UsageError(fmt::format("--one-program does not go with {}", with));
  };
  if (options.precision != Precision::kInt8) refuse("--precision float32; use int8");
  if (options.accumulate != Accumulate::kDevice) refuse("--accumulate host; use device");
  if (!options.debug.trace_tile.empty()) refuse("--trace-tile; use --trace-window");
}

}  // namespace

int run_network_command(const NetworkOptions& options) {
  check_one_program(options);
  ClaimedFiles files;
  files.input("--model", options.model);
  for (const std::string& input : options.inputs) files.input("--input", input_file(input));
  NetworkOutputs outputs(options.outputs, files);
  claim_outputs(files, options);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  Session session(options, "run", own_options(options));
  ProgressBar bar;
  bar.show("reading " + (options.model.empty() ? options.network : options.model), 0);
  // The reference device has no time and would only cut into slices what float32 can do itself.
  const bool host_only = options.device == "reference" && options.precision == Precision::kFloat32;
  Driver driver(session.device(), session.patience());
  RunOptions run_options = session.run_options();
  run_options.one_program = options.one_program;
  JobRunner runner(session.device(), driver, run_options);
  const NetworkSource source = open_network(options, files, [&](const OnnxModel& model) {
    if (!host_only) check_jobs(model, runner);
  });
  if (options.one_program && source.inputs.passes() > 1) {
    throw UsageError(fmt::format(
        "--one-program: the {} images run one after the other, each with programs of its own; give "
        "one image, or leave the option out: {}",
        source.batch, source.inputs.why_in_turn));
  }
  outputs.open(source.model, files);
  const Executor executor(source.model);
  NodeObserver dump;
  if (!options.dumps.empty()) {
    if (source.inputs.passes() > 1) {
      throw UsageError(fmt::format(
          "--dump-activations: the {} images run one after the other, and each would replace the "
          "files of the one before; give one image: {}",
          source.batch, source.inputs.why_in_turn));
    }
    ActivationDump chosen(options.dumps, executor);
    for (const std::string& file : chosen.files()) files.output("--dump-activations", file);
    dump = std::move(chosen);
  }

  const RunProgress progress = [&bar](const std::string& name, double done) {
    bar.show(name, done);
  };
  RunReport report;
  report.model = source.name;
  report.device = "host";
  report.precision = options.precision;
  report.batch = source.batch;
  NetworkRun run;
  if (host_only) {
    run = run_on_host(executor, source.inputs, report, dump, progress);
  } else {
    run = run_network(executor, source.inputs, runner, runner.report(source.name, source.batch),
                      dump, progress);
    run.report.failure = runner.failure();
  }
  bar.erase();
  if (const std::string note = dropout_note(source.model); !note.empty()) {
    print_report("{}\n", note);
  }
  if (run.report.error.empty()) outputs.write(run.outputs);
  return session.finish(std::move(run.report), json.get(), options.allow_host_only);
}

NetworkOptions read_network_options(const CommonOptions& common, const nlohmann::json& own) {
  NetworkOptions options;
  static_cast<CommonOptions&>(options) = common;
  if (own.contains("model")) {
    options.model = json_field<std::string>(own, "options", "model");
    options.inputs = json_field<std::vector<std::string>>(own, "options", "inputs");
  } else {
    options.network = json_field<std::string>(own, "options", "network");
    options.data = json_field<std::string>(own, "options", "data");
  }
  if (own.contains("one_program")) {
    options.one_program = json_field<bool>(own, "options", "one_program");
  }
  return options;
}

namespace {

void add_model_options(CLI::App& command, NetworkOptions& options) {
  CLI::Option* const network =
      command
          .add_option(
              "network", options.network,
              fmt::format("a network that the program makes, on images of Fashion-MNIST: {}",
                          fmt::join(known_onnx_networks(), ", ")))
          ->capture_default_str();
  CLI::Option* const data =
      command.add_option("--data", options.data, "folder of the Fashion-MNIST images")
          ->capture_default_str();
  CLI::Option* const model =
      command
          .add_option("--model", options.model,
                      "a network from this ONNX file: its Linear layers (Gemm, and MatMul with "
                      "constant weights) on the device, everything else on the host")
          ->excludes(network)
          ->excludes(data);
  command
      .add_option("--input", options.inputs,
                  "the network's input: a .npy file, or PNG or JPEG images, which are resized and "
                  "normalised; NAME=FILE if there are several (default: random, from --seed)")
      ->needs(model);
  command
      .add_option("--output", options.outputs,
                  "writes the network's first output to this .npy file; NAME=FILE: another output; "
                  "FOLDER/: all outputs, NAME.npy each")
      ->allow_extra_args(false)
      ->needs(model);
  command
      .add_option("--dump-activations", options.dumps,
                  "PATTERN=FOLDER: writes the output of each node whose name matches to .npy files")
      ->allow_extra_args(false)
      ->needs(model);
  command.add_flag("--one-program", options.one_program,
                   "puts all layers into one program, with a FENCE between them: the device never "
                   "waits for the host, and loads a layer's weights while the one before ends; "
                   "every layer's input is prepared ahead, from the reference's results; figures "
                   "by layer are from fence to fence");
  command.add_flag("--allow-host-only", options.allow_host_only,
                   "succeeds even if no layer of the network runs on the device");
}

}  // namespace

void add_run_command(CLI::App& app, int& result) {
  auto options = std::make_shared<NetworkOptions>();
  options->batch = 64;
  CLI::App* command = app.add_subcommand(
      "run", "runs a network's Linear layers on a device and checks every value, clock and byte");
  add_model_options(*command, *options);
  add_common_options(*command, *options);
  command->get_option("--batch")->description("images (with --model, default: the file's batch)");
  command->callback([options, command, &result] {
    if (!options->model.empty() && command->count("--batch") == 0) {
      options->batch = 0;  // as the file says
    }
    result = run_network_command(*options);
  });
  command->footer(
      fmt::format("Supported ONNX operators: {}.\n"
                  "With --device reference --precision float32 the whole network runs on the host.",
                  fmt::join(supported_operators(), ", ")));
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/cli/run_command.hpp"

#include <fmt/format.h>

#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/failure_file.hpp"
#include "host/cli/session.hpp"
#include "host/execute/operators.hpp"
#include "host/models/network.hpp"
#include "host/report/progress.hpp"

namespace gemm64 {
namespace {

int run_linear_layers(const NetworkOptions& options) {
  const std::unique_ptr<OutputFile> json = open_json(options.json);
  Session session(options, "run", {{"network", options.network}, {"data", options.data}});
  Driver driver(session.device());
  ProgressBar bar;
  bar.show("preparing " + options.network, 0);
  const Workload workload = make_workload(options.network, static_cast<std::size_t>(options.batch),
                                          options.seed, options.data);
  Runner runner(session.device(), driver, session.run_options(),
                [&bar](const std::string& name, double done) { bar.show(name, done); });
  RunReport report = runner.network(workload);
  report.failure = runner.failure();
  bar.erase();
  const int code = finish_report(report, options, json.get());
  session.finish();
  return code;
}

void add_model_options(CLI::App& command, ModelOptions& options,
                       const std::vector<CLI::Option*>& others) {
  CLI::Option* model = command.add_option(
      "--model", options.model,
      "a whole network from this ONNX file: its Linear layers (Gemm, and MatMul with constant "
      "weights) on the device, all else on the host");
  for (CLI::Option* other : others) model->excludes(other);
  command
      .add_option("--input", options.inputs,
                  "the network's input: a .npy file, or a PNG or JPEG image, which is resized and "
                  "normalised; NAME=FILE where it has several (default: random, from --seed)")
      ->allow_extra_args(false)
      ->needs(model);
  command.add_option("--output", options.output, "writes the network's first output to this .npy")
      ->needs(model);
  command
      .add_option("--dump-activations", options.dumps,
                  "PATTERN=FOLDER: writes the output of each node whose name matches to .npy files")
      ->allow_extra_args(false)
      ->needs(model);
}

}  // namespace

int run_network_command(const NetworkOptions& options) {
  return options.model.model.empty() ? run_linear_layers(options)
                                     : run_model(options.model, options);
}

NetworkOptions read_network_options(const CommonOptions& common, const nlohmann::json& own) {
  NetworkOptions options;
  static_cast<CommonOptions&>(options) = common;
  if (own.contains("model")) {
    options.model.model = json_field<std::string>(own, "options", "model");
    options.model.inputs = json_field<std::vector<std::string>>(own, "options", "inputs");
  } else {
    options.network = json_field<std::string>(own, "options", "network");
    options.data = json_field<std::string>(own, "options", "data");
  }
  return options;
}

void add_run_command(CLI::App& app, int& result) {
  auto options = std::make_shared<NetworkOptions>();
  options->batch = 64;
  CLI::App* command = app.add_subcommand(
      "run", "runs a network's Linear layers on a device and checks every value, clock and byte");
  CLI::Option* network =
      command->add_option("network", options->network, "alexnet")->capture_default_str();
  CLI::Option* data =
      command->add_option("--data", options->data, "folder of the Fashion-MNIST images")
          ->capture_default_str();
  add_model_options(*command, options->model, {network, data});
  add_common_options(*command, *options);
  command->get_option("--batch")->description("images (with --model: as many as the file says)");
  command->callback([options, command, &result] {
    if (!options->model.model.empty() && command->count("--batch") == 0) {
      options->batch = 0;  // as the file says
    }
    result = run_network_command(*options);
  });
  command->footer(
      fmt::format("An ONNX file may ask for these operators: {}.\n"
                  "With --device reference --precision float32 all of it runs on the host.",
                  fmt::join(supported_operators(), ", ")));
}

}  // namespace gemm64

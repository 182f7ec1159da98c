// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/network_source.hpp"
#include "host/console.hpp"
#include "host/execute/calibration.hpp"
#include "host/execute/network_input.hpp"
#include "host/files/claimed_files.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/onnx/save.hpp"
#include "host/rewrite/fold_batch_normalization.hpp"
#include "host/rewrite/quantize.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

struct QuantizeCommand {
  std::string model, output;
  std::vector<std::string> calibrate;
};

std::string listed(const std::map<std::string, int>& operators) {
  std::string text;
  for (const auto& [name, count] : operators) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, printable(name));
  }
  return text.empty() ? "none" : text;
}

int quantize(const QuantizeCommand& options) {
  ClaimedFiles files;
  files.input("the model", options.model);
  for (const std::string& input : options.calibrate) {
    files.input("--calibrate", input_file(input));
  }
  files.output("--output", options.output);
  NetworkOptions network;
  network.model = options.model;
  network.inputs = options.calibrate;
  network.batch = 0;
  OutputFile output(options.output, "the quantized model");
  const NetworkSource source = open_network(network, files, [](const OnnxModel&) {});
  const OnnxModel model =
      OnnxModel::from_proto(fold_batch_normalization(source.model), source.model.name());
  const QuantizedModel quantized = quantize_model(model, calibrate(Executor(model), source.inputs));
  print_report("on integers: {}\nin float: {}\n", listed(quantized.quantized),
               listed(quantized.left));
  std::uint64_t written = 0;
  if (keep_going([&] { written = save_model(quantized.proto, output); })) {
    print_report("{}: {}\n", options.output, bytes(written));
  }
  return 0;
}

}  // namespace

void add_quantize_command(CLI::App& app, int& result) {
  auto options = std::make_shared<QuantizeCommand>();
  CLI::App* command = app.add_subcommand(
      "quantize", "writes a float network as a QDQ file: int8 weights, uint8 activations");
  command->add_option("model", options->model, "the ONNX file")->required();
  command
      ->add_option("--calibrate", options->calibrate,
                   "inputs whose ranges become the scales: a .npy file, or PNG or JPEG images; "
                   "NAME=FILE if there are several inputs")
      ->required();
  command->add_option("-o,--output", options->output, "writes the quantized model to this file")
      ->required();
  command->callback([options, &result] { result = quantize(*options); });
}

}  // namespace gemm64

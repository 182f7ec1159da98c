// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/network_source.hpp"
#include "host/console.hpp"
#include "host/files/claimed_files.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/onnx/save.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

std::string listed(const std::map<std::string, int>& operators) {
  std::string text;
  for (const auto& [name, count] : operators) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, printable(name));
  }
  return text.empty() ? "none" : text;
}

int quantize(const NetworkOptions& options, const std::string& to) {
  ClaimedFiles files;
  claim_inputs(options, files);
  files.output("--output", to);
  OutputFile output(to, "the quantized model");
  const QuantizedModel quantized = quantized_network(options, files);
  print_report("on integers: {}\nin float: {}\n", listed(quantized.quantized),
               listed(quantized.left));
  std::uint64_t written = 0;
  if (keep_going([&] { written = save_model(quantized.proto, output); })) {
    print_report("{}: {}\n", to, bytes(written));
  }
  return 0;
}

}  // namespace

void add_quantize_command(CLI::App& app, int& result) {
  auto options = std::make_shared<NetworkOptions>();
  auto output = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand(
      "quantize", "writes a float network as a QDQ file: int8 weights, uint8 activations");
  command->add_option("model", options->model, "the ONNX file, or a TorchScript file (.pt)")
      ->required();
  add_input_shapes(*command, *options);
  add_calibration_options(*command, *options).required();
  add_image_options(*command, options->pixels);
  command->add_option("-o,--output", *output, "writes the quantized model to this file")
      ->required();
  command->callback([options, output, &result] { result = quantize(*options, *output); });
}

}  // namespace gemm64

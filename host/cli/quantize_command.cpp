// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/network_source.hpp"
#include "host/cli/values.hpp"
#include "host/graph/onnx/save.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Reasons = std::map<std::string, std::map<std::string, int>>;

/// "2 Conv, 3 MatMul (1 a mask)".
std::string listed(const std::map<std::string, int>& operators, const Reasons& reasons) {
  std::string text;
  for (const auto& [name, count] : operators) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, printable(name));
    const auto found = reasons.find(name);
    if (found == reasons.end()) continue;
    std::string whys;
    for (const auto& [why, of_these] : found->second) {
      whys += fmt::format("{}{} {}", whys.empty() ? "" : ", ", of_these, why);
    }
    text += fmt::format(" ({})", whys);
  }
  return text.empty() ? "none" : text;
}

struct QuantizeOptions {
  NetworkOptions network;
  std::string output;
  QuantizeChoice choice;
  RangeOptions ranges;
};

/// Throws UsageError where an option has no use with the method.
void check_options(const CLI::App& command, RangeMethod method) {
  if (command.count("--calib-percentile") != 0 && method != RangeMethod::kPercentile) {
    throw UsageError("--calib-percentile is for --calibrate-method percentile");
  }
  if (command.count("--calib-bins") != 0 && method == RangeMethod::kMinMax) {
    throw UsageError("--calib-bins is for --calibrate-method percentile or entropy");
  }
}

int quantize(const QuantizeOptions& options) {
  ClaimedFiles files;
  claim_inputs(options.network, files);
  files.output("--output", options.output);
  OutputFile output(options.output, "the quantized model");
  const QuantizedModel quantized =
      quantized_network(options.network, files, options.choice, options.ranges);
  print_report("on integers: {}\nin float: {}\n", listed(quantized.quantized, {}),
               listed(quantized.left, quantized.why_left));
  if (quantized.inputs_made_constant != 0) {
    print_report("{} no longer among the inputs\n",
                 quantized.inputs_made_constant == 1
                     ? "1 initializer is"
                     : fmt::format("{} initializers are", quantized.inputs_made_constant));
  }
  if (quantized.dropouts != 0) {
    print_report("{} in training mode left out: the quantized network is for inference\n",
                 counted(static_cast<std::uint64_t>(quantized.dropouts), "Dropout node"));
  }
  std::uint64_t written = 0;
  if (keep_going([&] { written = save_model(quantized.proto, output); })) {
    print_report("{}: {}\nNext: gemm64 run {}\n", options.output, bytes(written), options.output);
  }
  return 0;
}

/// Named as ONNX Runtime's quantize_static names them.
void add_choice_options(CLI::App& command, QuantizeOptions& options) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* text) {
    command.add_option(name, values, text)->delimiter(',')->allow_extra_args(false);
  };
  add("--op-types-to-quantize", options.choice.operators,
      "quantizes only these operators\nAs Conv,MatMul: repeat or separate by commas. The default "
      "is all "
      "that can be.");
  add("--nodes-to-quantize", options.choice.nodes,
      "quantizes only these nodes\nBy name, or by first output where they have none.");
  add("--nodes-to-exclude", options.choice.excluded, "leaves these nodes in float");
  command
      .add_option("--calibrate-method", options.ranges.method,
                  "ranges of values (default minmax)\nminmax: of all numbers. percentile, entropy: "
                  "without rare "
                  "ones.")
      ->transform(
          one_of(std::map<std::string, RangeMethod>{{"minmax", RangeMethod::kMinMax},
                                                    {"percentile", RangeMethod::kPercentile},
                                                    {"entropy", RangeMethod::kEntropy}}));
  command
      .add_option("--calib-percentile", options.ranges.percentile,
                  "percent of the numbers that lie within (default 99.999)")
      ->transform(real_number(0, 100));
  command
      .add_option(
          "--calib-bins", options.ranges.bins,
          "bins of a histogram\nThe default is 2048 for percentile, 128 for entropy, whose 128 "
          "steps choose among ranges only where there are more bins.")
      ->transform(whole_number(128, 1 << 20));
}

}  // namespace

void add_quantize_command(CLI::App& app, int& result) {
  auto options = std::make_shared<QuantizeOptions>();
  NetworkOptions& network = options->network;
  CLI::App* const command = app.add_subcommand(
      "quantize", "writes a float network as a QDQ file: int8 weights, uint8 activations");
  command->add_option("model", network.model, "the ONNX file, or a TorchScript file (.pt)")
      ->required();
  add_input_shapes(*command, network);
  add_calibration_options(*command, network).required();
  add_image_options(*command, network.pixels);
  add_choice_options(*command, *options);
  command->add_option("-o,--output", options->output, "writes the quantized model to this file")
      ->required();
  command->callback([options, command, &result] {
    check_options(*command, options->ranges.method);
    result = run_in_child(options->network.model, [&] { return quantize(*options); });
  });
}

}  // namespace gemm64

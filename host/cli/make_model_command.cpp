// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/graph/onnx/save.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/escaped.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

struct MakeModelCommand {
  std::string network;
  std::string output;
  std::int64_t batch = 1;
  std::uint32_t seed = 1;
};

int make_model(const MakeModelCommand& options) {
  ClaimedFiles().output("--output", options.output);
  OutputFile output(options.output, "the model");
  const std::uint64_t written =
      save_model(make_network(options.network, options.batch, options.seed), output);
  print_report("{}: {}, {}\n", escaped(options.output), options.network, bytes(written));
  return 0;
}

}  // namespace

void add_make_model_command(CLI::App& app, int& result) {
  auto options = std::make_shared<MakeModelCommand>();
  CLI::App* command = app.add_subcommand(
      "make-model", "writes a network as an ONNX model, with weights drawn from a seed");
  command
      ->add_option("network", options->network,
                   fmt::format("{}", fmt::join(known_onnx_networks(), ", ")))
      ->required();
  command->add_option("-o,--output", options->output, "writes the model to this file")->required();
  command->add_option("--batch", options->batch, "images at a time; 0 leaves the batch open")
      ->transform(whole_number(0, kMaxSize))
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed,
                   "seed of all weights; `run` draws the same ones from the same seed")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  command->callback([options, &result] { result = make_model(*options); });
}

}  // namespace gemm64

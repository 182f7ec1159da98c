// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/onnx/networks.hpp"
#include "host/onnx/save.hpp"
#include "host/report/table.hpp"

namespace gemm64 {
namespace {

struct MakeModelCommand {
  std::string network;
  std::string output;
  std::int64_t batch = 1;
  std::uint32_t seed = 1;
};

int make_model(const MakeModelCommand& options) {
  OutputFile output(options.output);
  const std::uint64_t written =
      save_model(make_network(options.network, options.batch, options.seed), output);
  fmt::print("{}: {}, {}\n", options.output, options.network, bytes(written));
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
  command->add_option("--batch", options->batch, "images at a time; 0: left open")
      ->check(CLI::Range(std::int64_t{0}, kMaxSize))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of all weights; those of `run` for the same seed")
      ->capture_default_str();
  command->callback([options, &result] { result = make_model(*options); });
}

}  // namespace gemm64

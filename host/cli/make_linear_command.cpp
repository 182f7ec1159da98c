// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/graph/onnx/save.hpp"
#include "host/graph/passes/rewrite.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/escaped.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

struct MakeLinearCommand {
  std::vector<std::int64_t> sizes;
  std::string output;
  bool no_bias = false;
  bool tiled = false;
  std::int64_t block = 64;
  std::uint32_t seed = 1;
};

int make_linear(const MakeLinearCommand& options) {
  ClaimedFiles().output("--output", options.output);
  OutputFile output(options.output, "the model");
  const std::int64_t m = options.sizes[0], k = options.sizes[1], n = options.sizes[2];
  onnx::ModelProto proto = make_linear_model(m, k, n, !options.no_bias, options.seed);
  std::string form = "one Gemm";
  if (options.tiled) {
    OnnxModel model = OnnxModel::from_proto(std::move(proto), options.output);
    const RewritePlan plan = plan_rewrite(model, options.block);
    proto = rewrite(std::move(model), plan);
    form = fmt::format("{} MatMul", grouped(static_cast<std::uint64_t>(plan.matmuls())));
  }
  const std::uint64_t written = save_model(proto, output);
  print_report("{}: a Linear layer of {}x{}x{}, {}, {}\n", escaped(options.output), m, k, n, form,
               bytes(written));
  return 0;
}

}  // namespace

void add_make_linear_command(CLI::App& app, int& result) {
  auto options = std::make_shared<MakeLinearCommand>();
  CLI::App* command = app.add_subcommand(
      "make-linear", "writes one Linear layer [M x K] -> [M x N] as an ONNX model");
  command->add_option("sizes", options->sizes, "M K N, each at least 1")
      ->delimiter('x')  // 64x64x64 too
      ->expected(3)
      ->required()
      ->transform(whole_number(1, kMaxSize));
  command->add_option("-o,--output", options->output, "writes the model to this file")->required();
  command->add_flag("--no-bias", options->no_bias, "omits the bias");
  CLI::Option* tiled =
      command->add_flag("--tiled", options->tiled, "as products of blocks, as `tile` writes it");
  command->add_option("--block", options->block, "rows and columns of a block")
      ->transform(whole_number(1, kMaxSize))
      ->needs(tiled)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of weights and bias")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  command->callback([options, &result] { result = make_linear(*options); });
}

}  // namespace gemm64

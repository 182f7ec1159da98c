// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>

#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/save.hpp"
#include "host/graph/passes/rewrite.hpp"
#include "host/graph/passes/rewrite_report.hpp"
#include "host/report/progress.hpp"
#include "host/torchscript/network_file.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/escaped.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

struct TileCommand {
  std::string model;
  std::string output;
  std::string json;
  std::int64_t block = 64;
  std::int64_t batch = 0;
  std::vector<std::string> input_shapes;
};

int tile(const TileCommand& options) {
  ClaimedFiles files;
  files.input("the model", options.model);
  files.output("--output", options.output);
  files.output("--json", options.json);
  ImportOptions import;
  import.batch = options.batch;
  import.input_shapes = parse_input_shapes(options.input_shapes);
  OnnxModel model = NetworkFile(options.model).load(import);
  claim_external_data(files, model);
  OutputFile output(options.output, "the rewritten model");
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::string name = model.name();
  const RewritePlan plan = plan_rewrite(model, options.block);
  print_report(rewrite_table(plan, terminal_width()) + "\n");
  std::uint64_t written = 0;
  if (keep_going([&] { written = save_model(rewrite(std::move(model), plan), output); })) {
    print_report("{}: {}\n", escaped(options.output), bytes(written));
  }
  if (json) keep_going([&] { json->write(to_json(plan, name, written).dump(2) + "\n"); });
  return 0;
}

}  // namespace

void add_tile_command(CLI::App& app, int& result) {
  auto options = std::make_shared<TileCommand>();
  CLI::App* command = app.add_subcommand(
      "tile", "rewrites every Linear layer of a network as products of blocks, in ONNX");
  command->add_option("model", options->model, "the ONNX file, or a TorchScript file (.pt)")
      ->required();
  command->add_option("-o,--output", options->output, "writes the rewritten model to this file")
      ->required();
  command
      ->add_option("--block", options->block,
                   "rows and columns of a block; smaller operands stay whole")
      ->transform(whole_number(1, kMaxSize))
      ->capture_default_str();
  command
      ->add_option("--batch", options->batch,
                   "size of the inputs' first dimension (default: the file's, or 1 where the "
                   "file leaves it open)")
      ->transform(whole_number(1, kMaxSize));
  command->add_option(
      "--input-shape", options->input_shapes,
      "shape of one input, as NAME=1x3x224x224\n"
      "Or sizes that the file leaves open by their names, as batch=1,sequence=128. Repeat it for "
      "more.");
  command->add_option("--json", options->json, "writes the table to this file");
  command->callback([options, &result] {
    result = run_in_child(options->model, [&] { return tile(*options); });
  });
}

}  // namespace gemm64

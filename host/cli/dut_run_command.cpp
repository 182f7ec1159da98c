// SPDX-License-Identifier: Apache-2.0
// `dut run`: products and whole networks on a user's array.

#include <algorithm>
#include <memory>

#include "host/cli/child_process.hpp"
#include "host/cli/dut_options.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/dut/network_run.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/report/page/page.hpp"
#include "host/report/progress.hpp"
#include "host/runtime/named_tensors.hpp"
#include "host/runtime/network_input.hpp"
#include "host/torchscript/network_file.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

struct DutRunCommand : DutOptions {
  std::vector<std::int64_t> sizes;
  std::string model, page;
  std::vector<std::string> inputs;
  std::int64_t batch = 1;
  std::uint32_t seed = 1;
};

bool has_all_data(const OnnxModel& model) {
  return std::all_of(model.graph().initializer().begin(), model.graph().initializer().end(),
                     [](const onnx::TensorProto& tensor) { return has_data(tensor); });
}

dut::NetworkWork network_work(const DutRunCommand& options, ClaimedFiles& files) {
  ImportOptions import;
  import.shapes_only = true;
  import.batch = options.batch;
  dut::NetworkWork work{options.model, NetworkFile(options.model).load(import)};
  claim_external_data(files, *work.model);
  if (has_all_data(*work.model)) {
    work.model = with_quantized_operators(*std::move(work.model), import);
    InputOptions choice;
    choice.files = options.inputs;
    choice.batch = options.batch;
    choice.seed = options.seed;
    NamedTensors inputs;
    for (const auto& [name, source] : open_inputs(*work.model, choice)) {
      inputs[name] = source.rows(0, source.dims.at(0));
    }
    work.inputs = inputs;
  } else if (!options.inputs.empty()) {
    throw UsageError(options.model +
                     ": --input: the file has no weights, so it cannot be computed");
  }
  work.products = dut::products_of(*work.model);
  return work;
}

dut::NetworkWork work_of(const DutRunCommand& options, ClaimedFiles& files) {
  if (!options.model.empty()) {
    if (!options.sizes.empty()) throw UsageError("give either M K N or --model, not both");
    return network_work(options, files);
  }
  if (!options.inputs.empty()) throw UsageError("--input is for --model");
  dut::NetworkWork work;
  if (options.sizes.empty()) {
    work.name = "alexnet, Linear layers";
    work.products = dut::alexnet_linear_layers(options.batch);
  } else {
    work.name = "gemm";
    work.products = {
        {"gemm", "Gemm", {options.sizes[0] * options.batch, options.sizes[1], options.sizes[2]}}};
  }
  return work;
}

int run(const DutRunCommand& options) {
  ClaimedFiles files;
  files.input("the description", options.file);
  files.input("--model", options.model);
  for (const std::string& text : options.inputs) {
    for (const std::string& file : input_files(text)) files.input("--input", file);
  }
  files.output("--json", options.json);
  need_charts("--report", options.page);
  files.output("--report", options.page);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::unique_ptr<OutputFile> page_file = open_output(options.page);
  const dut::Description description = dut::read_description(options.file);
  const dut::NetworkWork work = work_of(options, files);
  const dut::BuiltModel model = build_dut(description, options);
  dut::VerilatedBench bench(description, model);
  ProgressBar bar;
  dut::RunResult result =
      dut::run_network(bench, description, work, options.seed,
                       [&bar](const std::string& name, double done) { bar.show(name, done); });
  result.model = work.name;
  result.batch = options.batch;
  bar.erase();
  print_report(dut::run_text(description, result, terminal_width()));
  const nlohmann::ordered_json report = dut::run_json(description, result);
  if (json) keep_going([&] { json->write(report.dump(2) + "\n"); });
  if (page_file) {
    keep_going([&] { page_file->write(page({{{options.json, report}}, {}, nullptr})); });
  }
  return result.total().verified() ? 0 : 1;
}

}  // namespace

void add_dut_run_command(CLI::App& dut, int& result) {
  auto options = std::make_shared<DutRunCommand>();
  CLI::App* command = dut.add_subcommand(
      "run", "runs a product or a network's layers, checks every sum and reports the cycles");
  add_dut_options(*command, *options);
  add_sizes_option(*command, options->sizes);
  command->add_option("--model", options->model,
                      "Linear layers and convolutions of this ONNX file\n"
                      "The host computes the network, and the array multiplies the operands that "
                      "it has there: integers as they are, others rounded to the array's bits by "
                      "one scale for each tensor. Without weights in the file they are random.");
  command->add_option("--input", options->inputs,
                      "of the network, as FILE or NAME=FILE: .npy or images (default: random)");
  command->add_option("--batch", options->batch, "rows of activations, or images")
      ->transform(whole_number(1, 1 << 16))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of random operands")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  add_icarus_option(*command, *options);
  add_page_option(*command, options->page);
  command->footer(
      "Exit codes: 0 every sum equals Eigen's, 1 one does not or the array gave no answer, 2 bad "
      "usage or input, 3 an output was lost.");
  command->callback([options, &result] {
    const auto action = [&] { return run(*options); };
    result = options->model.empty() ? action() : run_in_child(options->model, action);
  });
}

}  // namespace gemm64

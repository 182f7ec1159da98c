// SPDX-License-Identifier: Apache-2.0
// `dut run`: products and whole networks on a user's array.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "host/cli/dut_options.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/console.hpp"
#include "host/dut/network_run.hpp"
#include "host/error.hpp"
#include "host/files/claimed_files.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/page/page.hpp"
#include "host/report/progress.hpp"
#include "host/torchscript/network_file.hpp"

namespace gemm64 {
namespace {

struct DutRunCommand : DutOptions {
  std::vector<std::int64_t> sizes;
  std::string model, page;
  std::int64_t batch = 1;
  std::uint32_t seed = 1;
};

struct Work {
  std::string name;
  std::optional<OnnxModel> model;  // which the products point into
  std::vector<dut::NetworkProduct> products;
};

Work work_of(const DutRunCommand& options, ClaimedFiles& files) {
  if (!options.model.empty()) {
    if (!options.sizes.empty()) throw UsageError("give either M K N or --model, not both");
    ImportOptions import;
    import.shapes_only = true;
    import.batch = options.batch;
    Work work{options.model, NetworkFile(options.model).load(import), {}};
    claim_external_data(files, *work.model);
    work.products = dut::products_of(*work.model);
    return work;
  }
  if (options.sizes.empty()) {
    return {"alexnet, Linear layers", std::nullopt, dut::alexnet_linear_layers(options.batch)};
  }
  return {
      "gemm",
      std::nullopt,
      {{"gemm", "Gemm", {options.sizes[0] * options.batch, options.sizes[1], options.sizes[2]}}}};
}

int run(const DutRunCommand& options) {
  ClaimedFiles files;
  files.input("the description", options.file);
  files.input("--model", options.model);
  files.output("--json", options.json);
  need_charts("--report", options.page);
  files.output("--report", options.page);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::unique_ptr<OutputFile> page_file = open_output(options.page);
  const dut::Description description = dut::read_description(options.file);
  const Work work = work_of(options, files);
  const dut::BuiltModel model = build_dut(description, options);
  dut::VerilatedBench bench(description, model.program);
  ProgressBar bar;
  dut::RunResult result =
      dut::run_network(bench, description, work.products, options.seed,
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
  command
      ->add_option("sizes", options->sizes,
                   "M K N of one product (default: AlexNet's Linear layers)")
      ->delimiter('x')  // 64x64x64 too
      ->expected(3)
      ->transform(whole_number(1, 1 << 20));
  command->add_option("--model", options->model,
                      "Linear layers and convolutions of this ONNX file\n"
                      "Weights of float32 are rounded to the array's bits by one scale for each "
                      "layer; others, and all activations, are random.");
  command->add_option("--batch", options->batch, "rows of activations, or images")
      ->transform(whole_number(1, 1 << 16))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of random operands")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  add_page_option(*command, options->page);
  command->footer(
      "Exit codes: 0 every sum equals Eigen's, 1 one does not or the array gave no answer, 2 bad "
      "usage or input, 3 an output was lost.");
  command->callback([options, &result] { result = run(*options); });
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "host/analysis/analysis.hpp"
#include "host/analysis/analysis_report.hpp"
#include "host/analysis/columns.hpp"
#include "host/analysis/module_outputs.hpp"
#include "host/analysis/open_model.hpp"
#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/graph/passes/quantize.hpp"
#include "host/graph/passes/quantize_shapes.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/report/page/page.hpp"
#include "host/report/progress.hpp"
#include "host/runtime/known_inputs.hpp"
#include "host/torchscript/network_file.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

struct AnalyzeCommand : DeviceOptions, RunSettings {
  std::string model;
  std::int64_t batch = 0;
  std::vector<std::string> input_shapes, inputs;
  std::string sort_by, columns;
  std::size_t top = 0;
  std::string modules;
  bool quantized = false;
  std::string json, csv, page;
};

int analyze_model(const AnalyzeCommand& options) {
  table_columns(options.columns);  // refuses unknown ones
  ImportOptions import;
  import.shapes_only = true;
  import.batch = options.batch;
  import.input_shapes = parse_input_shapes(options.input_shapes);
  ClaimedFiles files;
  files.input("the model", options.model);
  files.output("--json", options.json);
  files.output("--csv", options.csv);
  need_charts("--report", options.page);
  files.output("--report", options.page);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::unique_ptr<OutputFile> csv = open_output(options.csv);
  const std::unique_ptr<OutputFile> page_file = open_output(options.page);
  NetworkFile network(options.model);
  if (!options.modules.empty() && !network.is_torchscript()) {
    throw UsageError("--modules: only TorchScript files have modules; --csv has all nodes");
  }
  const ModelLoader load = [&network](const ImportOptions& by) { return network.load(by); };
  OnnxModel file = network.is_torchscript() ? load(import) : load_to_analyze(load, import);
  std::vector<std::string> values = options.inputs;
  import.input_values = take_known_inputs(file, values);
  if (!values.empty()) {
    throw UsageError(fmt::format("--input {}: NAME=NUMBER of one of its inputs is needed: {}",
                                 values.front(), fmt::join(file.inputs(), ", ")));
  }
  if (!import.input_values.empty()) file = load_to_analyze(load, import);
  claim_external_data(files, file);
  if (options.quantized) {
    if (is_quantized(file)) {
      throw UsageError(file.name() + ": is quantized already; leave --quantized out");
    }
    const auto quantized = [proto = quantize_shapes(file),
                            name = file.name()](const ImportOptions& by) {
      return OnnxModel::from_proto(proto, name, by);
    };
    file = load_to_analyze(quantized, import);
  }
  const OnnxModel model = with_quantized_operators(std::move(file), import);
  Analysis analysis = analyze(model, options.geometry(), options.memory, options.lanes);
  const std::vector<ModuleOutputs>& modules = network.modules();
  const std::vector<ModuleOutputs> listed =
      options.modules.empty() ? modules : matching_modules(modules, options.modules);
  if (!modules.empty()) analysis.modules = total(modules).activations;
  const std::vector<std::size_t> layers =
      sort_layers(analysis, shown_layers(analysis), options.sort_by, options.top);
  print_report(analysis_tables(analysis, layers, options.columns, terminal_width()));
  if (!modules.empty()) print_report("\n" + module_totals_table(modules, terminal_width()));
  if (!options.modules.empty()) {
    print_report("\n" + modules_table(listed, terminal_width()));
  }
  nlohmann::ordered_json report = to_json(analysis);
  if (!modules.empty()) report["modules"] = to_json(modules, listed);
  if (json) keep_going([&] { json->write(report.dump(2) + "\n"); });
  if (csv) {
    std::vector<std::size_t> all(analysis.layers.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const std::string text =
        layers_csv(analysis, sort_layers(analysis, all, options.sort_by, options.top));
    keep_going([&] { csv->write(text); });
  }
  if (page_file) {
    keep_going([&] { page_file->write(page({{{options.json, report}}, {}, nullptr})); });
  }
  return 0;
}

}  // namespace

void add_analyze_command(CLI::App& app, int& result) {
  auto options = std::make_shared<AnalyzeCommand>();
  CLI::App* command = app.add_subcommand(
      "analyze", "a network's parameters, memory, MACs, traffic and cost on the array, by layer");
  command
      ->add_option("model", options->model,
                   "the ONNX file, whose weights may be missing, or a TorchScript file (.pt)")
      ->required();
  command
      ->add_option("--batch", options->batch,
                   "size of the inputs' first dimension (default: the file's, or 1 where the "
                   "file leaves it open)")
      ->transform(whole_number(1, kMaxSize));
  command
      ->add_option("--input", options->inputs,
                   "an input that is the same in each run, as NAME=NUMBER\n"
                   "What depends only on it is settled: which branch an If takes, how often a Loop "
                   "runs. Repeat it for more.")
      ->type_name("NAME=NUMBER")
      ->group("Network")
      ->allow_extra_args(false);
  command->add_option("--input-shape", options->input_shapes,
                      "shape of one input, as NAME=1x3x224x224\n"
                      "Or sizes that the file leaves open by their names, as "
                      "batch=1,sequence=128. Repeat it for more.");
  command->add_option(
      "--modules", options->modules,
      "lists a TorchScript file's modules whose names match\n"
      "Patterns have *, ? and [abc]; each module is listed with what it gives out.");
  command->add_flag(
      "--quantized", options->quantized,
      "analyzes a float network as it will run once gemm64 quantize has quantized it\n"
      "Weights may be missing: programs and cycles do not depend on them.");
  command->add_option("--sort-by", options->sort_by,
                      "column to sort layers by, largest first\nColumns: " + column_keys() + ".");
  CLI::Option* const columns = command->add_option(
      "--columns", options->columns, "columns of the table by layer: some, with commas, or all");
  command
      ->add_flag_callback(
          "--wide", [options] { options->columns = "all"; },
          "all columns of the table by layer, and attributes")
      ->excludes(columns);
  command->add_option("--top", options->top, "shows only this many layers; 0: all")
      ->transform(whole_number(0, kMaxSize))
      ->capture_default_str();
  add_setting(*command, device_settings(), "array", *options)
      .check(one_of({"2", "4", "8", "16", "32", "64"}).description(""));
  for (const char* const name : {"design", "memory", "memory-latency", "memory-bytes-per-cycle"}) {
    add_setting(*command, device_settings(), name, *options);
  }
  add_setting(*command, run_settings(), "depthwise", *options);
  command->add_option("--json", options->json, "writes everything to this file");
  command->add_option("--csv", options->csv, "writes the table by layer to this file");
  add_page_option(*command, options->page, "--report,--plot");
  command->callback([options, &result] {
    result = run_in_child(options->model, [&] { return analyze_model(*options); });
  });
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// `compile`: the Executable of a network as a file.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/network_source.hpp"
#include "host/cli/values.hpp"
#include "host/compile/executable_file.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/report/json.hpp"
#include "host/report/network_text.hpp"
#include "host/report/progress.hpp"
#include "host/torchscript/network_file.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/escaped.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

struct CompileCommand : NetworkOptions {
  std::string output;
};

/// Returns a program's cycles with the options' memory.
std::uint64_t cycles_of(const CompiledProgram& program, const Geometry& geometry,
                        const MemoryTiming& memory) {
  std::uint64_t cycles = 0;
  for (const Counters& layer : predict_layers(program.list, geometry, memory)) {
    cycles += layer[counter::kTotalClocks];
  }
  return cycles;
}

struct CompileReport {
  std::string text;
  nlohmann::ordered_json json;
};

CompileReport report_of(const Executable& executable, const OnnxModel& model,
                        const MemoryTiming& memory) {
  Table table;
  table.add_column("program", Align::kLeft);
  for (const char* const heading :
       {"layers", "commands", "constants\nbytes", "memory\nbytes", "cycles"}) {
    table.add_column(heading);
  }
  CompileReport report;
  report.json = to_json(executable, model);
  std::uint64_t cycles = 0, layers = 0;
  for (std::size_t i = 0; i < executable.programs.size(); ++i) {
    const CompiledProgram& program = executable.programs[i];
    std::uint64_t constants = 0;
    for (const PackedLayer& layer : program.constants) {
      constants += layer.weights.size() + layer.parameters.size();
    }
    const std::uint64_t own = cycles_of(program, executable.geometry, memory);
    const std::string& first = program.list.jobs.front().name;
    table.add_row({fmt::format("{} {}", i + 1, printable(first, 24)),
                   grouped(program.list.jobs.size()), grouped(program.list.program.size()),
                   grouped(constants), grouped(program.list.end), grouped(own)});
    report.json["programs"][i]["predicted_cycles"] = own;
    for (std::size_t j = 0; program.list.tensor_memory && j < program.list.places.size(); ++j) {
      report.json["programs"][i]["layers"][j]["results_in"] = program.list.places[j].text();
    }
    cycles += own;
    layers += program.list.jobs.size();
  }
  std::size_t nodes = 0;
  for (const PassItem& item : executable.order) {
    nodes += item.kind == PassItem::Kind::kNode ? 1 : item.nodes.size();
  }
  report.json["total"] = {{"programs", executable.programs.size()},
                          {"layers", layers},
                          {"host_nodes", nodes},
                          {"predicted_cycles", cycles}};
  report.text = fmt::format("{}\n{} and {} of the host's; {} predicted for the device.\n",
                            table.render(static_cast<std::size_t>(terminal_width())),
                            counted(executable.programs.size(), "program"), counted(nodes, "node"),
                            counted(cycles, "cycle"));
  std::vector<HostLayer> between;
  for (const auto& [index, why] : executable.plan.between) {
    const onnx::NodeProto& node = model.graph().node(index);
    between.push_back({node_label(node, index), operator_name(node), 0, why, 0,
                       executable.plan.programs_after(index)});
  }
  report.json["between_programs"] = between_json(between);
  report.text += between_text(between);
  return report;
}

/// The model in QOperator form, its sizes those that it is compiled for.
OnnxModel open_model(const CompileCommand& options, ClaimedFiles& files) {
  if (is_executable_file(options.model)) {
    throw UsageError(fmt::format("{}: is compiled already", options.model));
  }
  ImportOptions import;
  import.batch = options.batch;
  import.input_shapes = parse_input_shapes(options.input_shapes);
  if (options.calibrate.empty()) {
    OnnxModel model = NetworkFile(options.model).load(import);
    claim_external_data(files, model);
    return with_quantized_operators(std::move(model), import);
  }
  OnnxModel quantized =
      OnnxModel::from_proto(quantized_network(options, files).proto, options.model, import);
  return with_quantized_operators(std::move(quantized), import);
}

int compile_network(const CompileCommand& options) {
  ClaimedFiles files;
  claim_inputs(options, files);
  files.output("--output", options.output);
  files.output("--json", options.json);
  const OnnxModel model = open_model(options, files);
  OutputFile output(options.output, "the compiled network");
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  CompileOptions how;
  how.convolutions = options.convolutions;
  how.lanes = options.lanes;
  how.rate = rate_of(options.memory);
  how.memory = options.memory;
  how.tensor_memory.reset();
  Executable executable = compile(model, options.geometry(), how);
  if (executable.programs.empty()) {
    throw UsageError(fmt::format("{}: {}", options.model, why_no_program(executable, model)));
  }
  pack_constants(executable, model);
  const CompileReport report = report_of(executable, model, options.memory);
  print_report(report.text);
  std::uint64_t written = 0;
  if (keep_going([&] {
        written = save_executable(executable, model, "gemm64 " GEMM64_VERSION, output);
      })) {
    print_report("{0}: {1}\nNext: gemm64 run {0}\n", escaped(options.output), bytes(written));
  }
  if (json) keep_going([&] { json->write(report.json.dump(2) + "\n"); });
  return 0;
}

}  // namespace

void add_compile_command(CLI::App& app, int& result) {
  auto options = std::make_shared<CompileCommand>();
  options->batch = 0;
  CLI::App* const command = app.add_subcommand(
      "compile", "writes a quantized network's programs for a device, ready to run");
  command->add_option("model", options->model, "the ONNX file, or a TorchScript file (.pt)")
      ->required();
  command->add_option("-o,--output", options->output, "writes the compiled network to this file")
      ->required();
  command
      ->add_option("--batch", options->batch,
                   "images at once (default: the file's, or 1 where it leaves it open)")
      ->transform(whole_number(1, kMaxSize));
  add_input_shapes(*command, *options);
  add_calibration_options(*command, *options);
  add_image_options(*command, options->pixels);
  for (const char* const name :
       {"array", "design", "memory", "memory-latency", "memory-bytes-per-cycle"}) {
    add_setting(*command, device_settings(), name, *options);
  }
  add_setting(*command, run_settings(), "convolutions", *options);
  add_setting(*command, run_settings(), "depthwise", *options);
  command->add_option("--json", options->json, "writes the report to this file");
  command->callback([options, &result] {
    result = run_in_child(options->model, [&] { return compile_network(*options); });
  });
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// `cosim M K N`: one product on every device that there is, compared.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "host/check/cosim.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"
#include "sim/models/devices.hpp"

namespace gemm64 {
namespace {

struct CosimCommand : NamedDevice {
  std::vector<std::int64_t> sizes;
  Accumulate accumulate = Accumulate::kDevice;
  std::int64_t batch = 1, layers = 1;
  std::string json;
  AddSides platform = nullptr;
};

std::string table_of(const Cosim& cosim) {
  Table table;
  table.add_column("side", Align::kLeft);
  table.add_column("cycles");
  for (const char* heading : {"memory", "interrupts", "registers", "counters"}) {
    table.add_column(heading, Align::kLeft);
  }
  const auto cell = [](const CosimVerdict& verdict, const std::string& difference) {
    if (!verdict.failure.empty()) return "-";
    return difference.empty() ? "agrees" : "DIFFERS";
  };
  std::string text;
  for (const CosimVerdict& verdict : cosim.verdicts()) {
    table.add_row({verdict.side, verdict.cycles ? grouped(*verdict.cycles) : "-",
                   cell(verdict, verdict.memory), cell(verdict, verdict.interrupts),
                   cell(verdict, verdict.registers), cell(verdict, verdict.counters)});
    for (const std::string* difference : {&verdict.failure, &verdict.memory, &verdict.interrupts,
                                          &verdict.registers, &verdict.counters}) {
      if (!difference->empty()) text += fmt::format("{}: {}\n", verdict.side, *difference);
    }
  }
  return table.render() + "\n" + text;
}

nlohmann::ordered_json json_of(const Cosim& cosim) {
  nlohmann::ordered_json sides = nlohmann::ordered_json::array();
  for (const CosimVerdict& verdict : cosim.verdicts()) {
    nlohmann::ordered_json side = {{"side", verdict.side}, {"agrees", verdict.agrees()}};
    if (verdict.cycles) side["clocks"] = *verdict.cycles;
    const auto tell = [&side](const char* what, const std::string& difference) {
      if (!difference.empty()) side[what] = difference;
    };
    tell("failure", verdict.failure);
    tell("memory", verdict.memory);
    tell("interrupts", verdict.interrupts);
    tell("registers", verdict.registers);
    tell("counters", verdict.counters);
    sides.push_back(side);
  }
  return {{"agree", cosim.agree()}, {"sides", sides}};
}

int run_cosim_command(const CosimCommand& options) {
  ClaimedFiles().output("--json", options.json);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::uint64_t m = static_cast<std::uint64_t>(options.sizes[0] * options.batch);
  const GemmShape shape{m, static_cast<std::uint64_t>(options.sizes[1]),
                        static_cast<std::uint64_t>(options.sizes[2])};
  const auto make = [&](const std::string& name) {
    return devices().find(name, options).make(options);
  };
  std::unique_ptr<Device> device = make("reference");
  const std::vector<GemmShape> shapes(static_cast<std::size_t>(options.layers), shape);
  CosimWork work =
      make_fenced_work(shapes, options.accumulate, read_geometry(*device), options.seed);
  work.exact = options.memory.predictable();
  work.random_stalls = !work.exact;
  Cosim cosim(work);
  cosim.add(run_cosim(*device, work, "reference", ""));
  for (const char* name : {"tlm", "rtl"}) {
    device = make(name);
    cosim.add(run_cosim(*device, work, name, name));
  }
  device.reset();
  if (options.platform != nullptr) options.platform(options, work, cosim);
  std::string text = table_of(cosim);
  if (options.platform == nullptr) {
    text += "Built without the SystemC platform, so without its four sides.\n";
  }
  text += fmt::format("{}: {}{}x{}x{} on {} sides.\n", cosim.agree() ? "AGREE" : "DISAGREE",
                      options.layers == 1 ? "" : fmt::format("{} layers of ", options.layers),
                      shape.m, shape.k, shape.n, cosim.verdicts().size());
  print_report(text);
  if (json) keep_going([&] { json->write(json_of(cosim).dump(2) + "\n"); });
  return cosim.agree() ? 0 : 1;
}

}  // namespace

void add_cosim_command(CLI::App& app, int& result, AddSides platform) {
  auto options = std::make_shared<CosimCommand>();
  options->platform = platform;
  CLI::App* command = app.add_subcommand(
      "cosim", "the same product on reference, tlm, rtl, platform and firmware, compared");
  command->add_option("sizes", options->sizes, "M K N, each at least 1")
      ->delimiter('x')  // 64x64x64 too
      ->expected(3)
      ->required()
      ->transform(whole_number(1, 1 << 16));
  add_device_options(*command, *options);
  command->remove_option(command->get_option("--device"));
  const std::map<std::string, Accumulate> places{{"device", Accumulate::kDevice},
                                                 {"host", Accumulate::kHost}};
  command
      ->add_option("--accumulate", options->accumulate,
                   "where partial sums are added (default device); with host, every tile's results "
                   "are compared")
      ->transform(one_of(places));
  command->add_option("--batch", options->batch, "inputs of M rows each that share the weights")
      ->transform(whole_number(1, 1 << 16))
      ->capture_default_str();
  command
      ->add_option("--layers", options->layers,
                   "number of products in one program, with a FENCE between them")
      ->transform(whole_number(1, 64))
      ->capture_default_str();
  command->add_option("--json", options->json, "writes the report to this file");
  command->callback([options, &result] { result = run_cosim_command(*options); });
}

}  // namespace gemm64

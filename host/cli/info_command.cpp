// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/device/array_geometry.hpp"
#include "host/device/fault.hpp"
#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/driver/driver.hpp"
#include "host/report/json.hpp"
#include "host/runtime/self_test.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"
#include "sim/models/devices.hpp"

namespace gemm64 {
namespace {

struct InfoCommand : NamedDevice {
  std::string json;
  bool self_test = false;
  std::string trace;
  std::vector<std::string> inject;
};

/// The device, and with faults or a trace one that can be looked into.
std::unique_ptr<Device> make_tested(const InfoCommand& options) {
  if (options.inject.empty() && options.trace.empty()) return make_device(options);
  const char* const given = options.inject.empty() ? "--trace" : "--inject";
  if (!options.self_test) {
    throw UsageError(fmt::format("{} belongs to a self-test; add --self-test", given));
  }
  std::vector<Fault> faults;
  for (const std::string& text : options.inject) faults.push_back(parse_fault(text));
  std::unique_ptr<DebugDevice> device =
      devices().find_inspectable(options.device, given).make_inspectable(options, {options.trace});
  const Geometry geometry = read_design_geometry(*device);
  for (const Fault& fault : faults) {
    check_fault(fault, geometry);
    device->inject(fault);
  }
  return device;
}

std::string description(const Device& device, const Geometry& geometry, std::uint64_t memory) {
  const std::uint64_t n = geometry.n;
  Table table;
  table.add_column("what", Align::kLeft);
  table.add_column("value");
  table.add_column("unit", Align::kLeft);
  const auto row = [&table](const char* what, const std::string& value, const char* unit) {
    table.add_row({what, value, unit});
  };
  row("device", device.name(), "");
  row("version of registers and commands", fmt::format("{}.{}", kVersionMajor, kVersionMinor), "");
  row("array", fmt::format("{}x{}", n, n), "int8 multiply-accumulates a cycle");
  row("rows added before a partial-sum register", grouped(geometry.stage_rows), "rows");
  row("pipeline, row read to last sum written", grouped(geometry.pipeline()), "cycles");
  row("weight buffer", bytes(geometry.weight_tiles * n * n),
      fmt::format("{} tiles of {}", geometry.weight_tiles, bytes(n * n)).c_str());
  row("activation scratchpad", bytes(geometry.scratchpad_words * n),
      fmt::format("{} words of {}", grouped(geometry.scratchpad_words), bytes(n)).c_str());
  row("of it tensor memory, where enabled", bytes(geometry.tensor_words * n),
      fmt::format("{} words", grouped(geometry.tensor_words)).c_str());
  row("accumulator", bytes(std::uint64_t{2} * geometry.accumulator_rows * n * 4),
      fmt::format("2 banks of {} rows of {} int32", geometry.accumulator_rows, n).c_str());
  row("port for weights, AXI4 read", grouped(n), "bytes per cycle");
  row("port for commands, activations and parameters, AXI4 read", grouped(n), "bytes per cycle");
  row("port for results, AXI4 write", grouped(n), "bytes per cycle");
  row("longest burst", grouped(geometry.burst_beats), "beats");
  row("read bursts in flight, each reader", grouped(geometry.reads), "bursts");
  row("write bursts in flight", grouped(geometry.writes), "bursts");
  row("commands fetched ahead", grouped(geometry.commands), "commands");
  row("parameter buffer", grouped(geometry.parameter_sets), "sets of biases and scales");
  row("address", grouped(geometry.address_width), "bits");
  row("memory", bytes(memory), "");
  return table.render();
}

int info(const InfoCommand& options) {
  ClaimedFiles files;
  files.output("--json", options.json);
  files.output("--trace", options.trace);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::unique_ptr<Device> device = make_tested(options);
  const Geometry geometry = read_design_geometry(*device);
  print_report(description(*device, geometry, device->memory_bytes()));
  std::optional<SelfTest> test;
  if (options.self_test) {
    Driver driver(*device);
    test = self_test(*device, driver);
    print_report(in_words(*test) + "\n");
  }
  if (json) {
    nlohmann::ordered_json report = {
        {"device", device->name()},
        {"version", fmt::format("{}.{}", kVersionMajor, kVersionMinor)},
        {"memory_bytes", device->memory_bytes()}};
    report.update(to_json(geometry));
    if (test) {
      report["self_test"] = {{"passed", test->passed()},
                             {"sums", test->sums},
                             {"wrong_sums", test->mismatches.count},
                             {"clocks", test->cycles},
                             {"error", test->error}};
    }
    keep_going([&] { json->write(report.dump(2) + "\n"); });
  }
  return test && !test->passed() ? 1 : 0;
}

}  // namespace

void add_info_command(CLI::App& app, int& result) {
  auto options = std::make_shared<InfoCommand>();
  CLI::App* command =
      app.add_subcommand("info", "the device's own description: array, memories, ports, version");
  add_device_options(*command, *options);
  command->add_option("--json", options->json, "writes the description to this file");
  command->add_flag("--self-test", options->self_test,
                    "also runs a product that meets every bit of the array, and compares its sums");
  add_inject_option(*command, options->inject);
  command->add_option("--trace", options->trace,
                      "writes the waveform of the self-test to this FST file\n"
                      "Uses a slower build of the model.");
  command->footer(
      "Exit codes: 0 described, 1 the self-test failed, 2 bad usage or input, 3 an output was "
      "lost.");
  command->callback([options, &result] { result = info(*options); });
}

}  // namespace gemm64

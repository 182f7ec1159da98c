// SPDX-License-Identifier: Apache-2.0
// `dut check`: the conformance suite.

#include <memory>

#include "host/cli/dut_options.hpp"
#include "host/cli/options.hpp"
#include "host/dut/check_report.hpp"
#include "host/dut/verilated_bench.hpp"
#include "host/dut/waveform.hpp"
#include "host/report/progress.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

struct DutCheckCommand : DutOptions {
  std::string junit;
  std::string trace = "dut.fst";
  bool score = false;
  bool no_trace = false;
};

/// The first failure that has an input to show.
const dut::Failure* shown_failure(const dut::CheckResult& result) {
  for (const dut::RuleResult& rule : result.rules) {
    if (rule.failure && !rule.failure->stimulus.tiles.empty()) return &*rule.failure;
  }
  return nullptr;
}

int check(const DutCheckCommand& options) {
  ClaimedFiles files;
  files.input("the description", options.file);
  files.output("--json", options.json);
  files.output("--junit", options.junit);
  files.output("--trace", options.trace);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::unique_ptr<OutputFile> junit = open_output(options.junit);
  const dut::Description description = dut::read_description(options.file);
  const dut::BuiltModel model = build_dut(description, options);
  dut::VerilatedBench bench(description, model);
  std::uint32_t seed = 1;
  ProgressBar bar;
  dut::CheckResult result = dut::check_conformance(
      description,
      [&](std::uint32_t wanted) -> dut::VerilatedBench& {
        if (wanted != seed) bench.restart(wanted);
        seed = wanted;
        return bench;
      },
      [&bar](const std::string& rule, double done) { bar.show(rule, done); },
      build_options(options).simulator);
  std::string waveform;
  if (const dut::Failure* const failure = shown_failure(result);
      failure != nullptr && !options.no_trace) {
    bar.show("the waveform", 1);
    keep_going([&] {
      try {
        waveform = dut::write_waveform(description, *failure, build_options(options), options.trace)
                       .string();
      } catch (const DeviceError&) {
        // The design ended the simulation: there is nothing to be seen.
      }
    });
  }
  bar.erase();
  print_report(dut::check_text(description, result, waveform));
  if (options.score) print_report("score: {:.1f}\n", dut::score(result));
  if (json) {
    keep_going([&] { json->write(dut::check_json(description, result, waveform).dump(2) + "\n"); });
  }
  if (junit) keep_going([&] { junit->write(dut::check_junit(description, result)); });
  return result.passed() == result.tried() ? 0 : 1;
}

}  // namespace

void add_dut_check_command(CLI::App& dut, int& result) {
  auto options = std::make_shared<DutCheckCommand>();
  CLI::App* command = dut.add_subcommand(
      "check", "runs the conformance suite and names the cell or rule of each failure");
  add_dut_options(*command, *options);
  command->add_option("--junit", options->junit, "writes JUnit's XML to this file");
  command->add_flag("--score", options->score, "prints the share of rules that held, 0 to 100");
  command
      ->add_option("--trace", options->trace,
                   "of a failure, writes the waveform to this FST file, and a save file for "
                   "GTKWave next to it")
      ->capture_default_str();
  command->add_flag("--no-trace", options->no_trace, "writes no waveform");
  add_icarus_option(*command, *options);
  command->footer(
      "Exit codes: 0 every rule held, 1 one did not, 2 bad usage or input, 3 an output was lost.");
  command->callback([options, &result] { result = check(*options); });
}

}  // namespace gemm64

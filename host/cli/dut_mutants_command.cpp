// SPDX-License-Identifier: Apache-2.0
// `dut mutants`: the score of the conformance suite on a user's design.

#include <memory>

#include "host/cli/dut_options.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/dut/mutants.hpp"
#include "host/report/progress.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

struct DutMutantsCommand : DutOptions {
  unsigned count = 100;
  std::uint32_t seed = 1;
};

int mutants(const DutMutantsCommand& options) {
  ClaimedFiles files;
  files.input("the description", options.file);
  files.output("--json", options.json);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const dut::Description description = dut::read_description(options.file);
  ProgressBar bar;
  bar.show("mutants", 0);
  const dut::MutationResult result =
      dut::run_mutants(description, build_options(options), options.count, options.seed,
                       [&bar](double done) { bar.show("mutants", done); });
  bar.erase();
  Table table;
  table.add_column("noticed by rule", Align::kLeft);
  table.add_column("mutants");
  for (const auto& [rule, count] : result.by_rule()) table.add_row({rule, grouped(count)});
  print_report(table.render());
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  bool heading = true;
  for (const dut::Mutant& mutant : result.mutants) {
    list.push_back({{"change", mutant.change}, {"source", mutant.source}, {"rule", mutant.rule}});
    if (!mutant.rule.empty()) continue;
    if (heading) print_report("\nNot noticed; some change nothing that a user sees:\n");
    heading = false;
    print_report("  {}: {}\n", mutant.source, mutant.change);
  }
  print_report("\nmutation score: {}\n", share(result.killed(), result.mutants.size()));
  if (json) {
    const nlohmann::ordered_json report = {{"format", 1},
                                           {"description", description.file},
                                           {"seed", options.seed},
                                           {"count", result.mutants.size()},
                                           {"killed", result.killed()},
                                           {"mutants", list}};
    keep_going([&] { json->write(report.dump(2) + "\n"); });
  }
  return 0;
}

}  // namespace

void add_dut_mutants_command(CLI::App& dut, int& result) {
  auto options = std::make_shared<DutMutantsCommand>();
  CLI::App* command = dut.add_subcommand(
      "mutants", "changes the design at random places and reports which changes are noticed");
  add_dut_options(*command, *options);
  command->add_option("--count", options->count, "mutants")
      ->transform(whole_number(1, 10000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of their choice")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  command->footer(
      "Needs Yosys, which must be able to read the sources.\n"
      "Exit codes: 0 every mutant was tried, 2 bad usage or input, 3 an output was lost.");
  command->callback([options, &result] { result = mutants(*options); });
}

}  // namespace gemm64

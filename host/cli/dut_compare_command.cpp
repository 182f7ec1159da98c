// SPDX-License-Identifier: Apache-2.0
// `dut compare`: two arrays on the same work.
#include <fmt/format.h>

#include <memory>

#include "host/cli/dut_options.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/dut/mutants.hpp"
#include "host/dut/network_run.hpp"
#include "host/dut/yosys.hpp"
#include "host/report/progress.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

struct DutCompareCommand : DutOptions {
  std::string other, liberty;
  std::vector<std::int64_t> sizes;
  unsigned mutants = 0;
  bool area = false;
};

struct Compared {
  dut::Description description;
  dut::RunResult run;
  dut::Area area;
  dut::MutationResult mutants;
};

Compared compared(const std::string& file, const DutCompareCommand& options) {
  Compared one{dut::read_description(file), {}, {}, {}};
  const dut::BuiltModel model = build_dut(one.description, options);
  dut::VerilatedBench bench(one.description, model);
  dut::NetworkWork work;
  work.products =
      options.sizes.empty()
          ? dut::alexnet_linear_layers(1)
          : std::vector<dut::NetworkProduct>{
                {"gemm", "Gemm", {options.sizes[0], options.sizes[1], options.sizes[2]}}};
  ProgressBar bar;
  one.run = dut::run_network(bench, one.description, work, 1,
                             [&](const std::string& name, double done) { bar.show(name, done); });
  if (options.area || !options.liberty.empty()) {
    bar.show("area of " + one.description.top, 1);
    one.area = dut::area_of(one.description, options.liberty, options.cache);
  }
  if (options.mutants > 0) {
    one.mutants = dut::run_mutants(one.description, build_options(options), options.mutants, 1,
                                   [&bar](double done) { bar.show("mutants", done); });
  }
  return one;
}

int compare(const DutCompareCommand& options) {
  ClaimedFiles files;
  files.input("the first description", options.file);
  files.input("the second description", options.other);
  files.input("--liberty", options.liberty);
  files.output("--json", options.json);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const Compared both[] = {compared(options.file, options), compared(options.other, options)};
  Table table;
  table.add_column("", Align::kLeft);
  nlohmann::ordered_json report = {{"format", 1}, {"arrays", nlohmann::ordered_json::array()}};
  for (const Compared& one : both) {
    table.add_column(one.description.file);
    nlohmann::ordered_json own = run_json(one.description, one.run);
    if (one.area.cells > 0) own["area"] = {{"cells", one.area.cells}, {"area", one.area.area}};
    if (!one.mutants.mutants.empty()) {
      own["mutants"] = {{"count", one.mutants.mutants.size()}, {"killed", one.mutants.killed()}};
    }
    report["arrays"].push_back(own);
  }
  const auto row = [&](const char* name, const auto& text) {
    table.add_row({name, text(both[0]), text(both[1])});
  };
  row("array", [](const Compared& one) {
    return fmt::format("{}×{}, {}", one.description.rows, one.description.columns,
                       dut::name_of(one.description.dataflow));
  });
  row("tiles", [](const Compared& one) { return grouped(one.run.total().tiles); });
  row("cycles", [](const Compared& one) { return grouped(one.run.total().cycles); });
  row("bound of its streams", [](const Compared& one) { return grouped(one.run.total().bound); });
  row("utilization", [](const Compared& one) {
    std::uint64_t macs = 0;
    for (const dut::ProductRun& run : one.run.products) macs += run.macs();
    const std::uint64_t cells = std::uint64_t{one.description.rows} * one.description.columns;
    return percent(static_cast<double>(macs) /
                   static_cast<double>(cells * std::max<std::uint64_t>(1, one.run.total().cycles)));
  });
  row("bytes", [](const Compared& one) {
    const dut::ProductRun all = one.run.total();
    return bytes(all.bytes[0] + all.bytes[1] + all.bytes[2] + all.bytes[3]);
  });
  row("sums that differ", [](const Compared& one) {
    const dut::ProductRun all = one.run.total();
    return all.error.empty() ? grouped(all.mismatches + all.total_mismatches) : "did not finish";
  });
  if (both[0].area.cells > 0) {
    row("cells", [](const Compared& one) { return grouped(one.area.cells); });
  }
  if (both[0].area.area > 0) {
    row("area, unit of the library",
        [](const Compared& one) { return grouped(static_cast<std::uint64_t>(one.area.area)); });
  }
  if (options.mutants > 0) {
    row("mutants noticed", [](const Compared& one) {
      return share(one.mutants.killed(), one.mutants.mutants.size());
    });
  }
  print_report(table.render());
  if (json) keep_going([&] { json->write(report.dump(2) + "\n"); });
  return both[0].run.total().verified() && both[1].run.total().verified() ? 0 : 1;
}

}  // namespace

void add_dut_compare_command(CLI::App& dut, int& result) {
  auto options = std::make_shared<DutCompareCommand>();
  CLI::App* command = dut.add_subcommand("compare", "two arrays on the same work, in one table");
  add_dut_options(*command, *options);
  command->add_option("other", options->other, "the other array's description")->required();
  add_sizes_option(*command, options->sizes);
  command->add_flag("--area", options->area, "counts the gates that Yosys maps each array to");
  command->add_option("--liberty", options->liberty, "adds the area in cells of this Liberty file");
  command->add_option("--mutants", options->mutants, "adds the score of N mutants")
      ->transform(whole_number(0, 10000))
      ->capture_default_str();
  command->footer(
      "Exit codes: 0 every sum of both equals Eigen's, 1 one does not, 2 bad usage or "
      "input, 3 an output was lost.");
  command->callback([options, &result] { result = compare(*options); });
}

}  // namespace gemm64

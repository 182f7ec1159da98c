// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/report/page/comparison.hpp"
#include "host/report/page/page.hpp"
#include "host/report/page/recording.hpp"
#include "host/report/page/report_file.hpp"
#include "host/report/progress.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/escaped.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

struct ReportCommand {
  std::string file;
  std::vector<std::string> compare;  // two, or none
  std::string timeline, output;
};

/// An analysis verifies nothing.
bool run_held(const nlohmann::ordered_json& report) {
  return is_analysis(report) || report.value("verified", nlohmann::ordered_json(false)) == true;
}

const char* command_behind(const nlohmann::ordered_json& report) {
  return is_analysis(report) ? "analyze" : "run or gemm";
}

/// One report as a table; with --output as a page, with its timeline.
int show_report(const ReportCommand& options) {
  nlohmann::ordered_json report = read_report(options.file);
  if (options.output.empty()) {
    print_report(report_summary(report, terminal_width()));
    if (is_analysis(report)) return 0;
    print_report(run_held(report) ? "\nVERIFIED.\n" : "\nNOT VERIFIED.\n");
    return run_held(report) ? 0 : 1;
  }
  need_charts("--output", options.output);
  ClaimedFiles files;
  files.input("the report", options.file);
  files.input("--timeline", options.timeline);
  files.output("--output", options.output);
  const std::unique_ptr<OutputFile> output = open_output(options.output);
  PageContent content{{{options.file, std::move(report)}}, {}, nullptr};
  if (!options.timeline.empty()) content.recording = page_recording(options.timeline, kPageSlices);
  keep_going([&] { output->write(page(content)); });
  return 0;
}

int compare_reports(const ReportCommand& options) {
  need_charts("--output", options.output);
  ClaimedFiles files;
  for (const std::string& file : options.compare) files.input("--compare", file);
  files.output("--output", options.output);
  const std::unique_ptr<OutputFile> output = open_output(options.output);
  const nlohmann::ordered_json a = read_report(options.compare[0]);
  const nlohmann::ordered_json b = read_report(options.compare[1]);
  if (is_analysis(a) != is_analysis(b)) {
    throw UsageError(
        fmt::format("--compare: {} is a report of {}, {} one of {}; give two of a kind",
                    options.compare[0], command_behind(a), options.compare[1], command_behind(b)));
  }
  print_report("A: {}\nB: {}\n{}", escaped(options.compare[0]), escaped(options.compare[1]),
               comparison_tables(a, b, terminal_width()));
  if (output) {
    keep_going([&] {
      output->write(
          page({{{options.compare[0], a}, {options.compare[1], b}}, compare(a, b), nullptr}));
    });
  }
  if (run_held(a) && run_held(b)) return 0;
  print_report("\nNOT VERIFIED: {}.\n", run_held(a) ? "B" : run_held(b) ? "A" : "both runs");
  return 1;
}

}  // namespace

void add_report_command(CLI::App& app, int& result) {
  auto options = std::make_shared<ReportCommand>();
  CLI::App* command = app.add_subcommand(
      "report", "a report that --json wrote as a table or an HTML page, or two compared");
  CLI::Option* const file =
      command->add_option("file", options->file, "a report that --json wrote");
  CLI::Option* const compared =
      command
          ->add_option("--compare", options->compare,
                       "two reports: cycles, causes and bytes of both, and what differs")
          ->type_name("A.json B.json")
          ->expected(2)
          ->excludes(file);
  CLI::Option* const output =
      command->add_option("-o,--output", options->output, "writes the page to this HTML file");
  command
      ->add_option("--timeline", options->timeline,
                   "the run's recording, which --timeline of run and gemm wrote")
      ->needs(file)
      ->needs(output);
  command->footer(
      "Exit codes: 0 written, or all runs that are printed were verified, 1 one was not, 2 bad "
      "usage or input, 3 an output was lost.");
  command->callback([options, compared, &result] {
    if (compared->count() == 0 && options->file.empty()) {
      throw UsageError("give a report that --json wrote, or two with --compare A.json B.json");
    }
    result = compared->count() == 0 ? show_report(*options) : compare_reports(*options);
  });
}

}  // namespace gemm64

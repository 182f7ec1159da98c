// SPDX-License-Identifier: Apache-2.0
// `dut`: the bench for a user's own array.
#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/dut_options.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/dut/templates.hpp"
#include "host/report/progress.hpp"
#include "host/util/console.hpp"
#include "host/util/text.hpp"

namespace gemm64 {

void add_dut_options(CLI::App& command, DutOptions& options) {
  command.add_option("file", options.file, "the array's description, TOML or JSON")->required();
  command.add_option("--cache", options.cache,
                     "keeps compiled benches in this directory\n"
                     "Without it: $XDG_CACHE_HOME/gemm64/dut, or ~/.cache/gemm64/dut.");
  command.add_flag("--warnings", options.warnings, "prints the compiler's warnings");
  command.add_option("--json", options.json, "writes the report to this file");
  add_progress_option(command);
}

void add_icarus_option(CLI::App& command, DutOptions& options) {
  command.add_flag(
      "--icarus", options.icarus,
      "simulates in Icarus Verilog, which is slower and sees unknown values: registers "
      "begin as X, and TDATA is X while TVALID is low");
}

dut::BuildOptions build_options(const DutOptions& options) {
  dut::BuildOptions build;
  build.cache = options.cache;
  if (options.icarus) build.simulator = dut::Simulator::kIcarus;
  return build;
}

void add_sizes_option(CLI::App& command, std::vector<std::int64_t>& sizes) {
  command.add_option("sizes", sizes, "M K N of one product (default: AlexNet's Linear layers)")
      ->delimiter('x')  // 64x64x64 too
      ->expected(3)
      ->transform(whole_number(1, 1 << 20));
}

dut::BuiltModel build_dut(const dut::Description& description, const DutOptions& options) {
  ProgressBar bar;
  bar.show("compiling " + description.top, 0);
  dut::BuiltModel model = dut::build_model(description, build_options(options));
  bar.erase();
  if (options.warnings) {
    for (const std::string& warning : model.warnings) print_report(warning + "\n");
  } else if (!model.warnings.empty()) {
    print_report("{}: {} of the compiler (--warnings prints them)\n\n", description.file,
                 counted(model.warnings.size(), "warning"));
  }
  return model;
}

void add_dut_new_command(CLI::App& dut, int& result) {
  struct NewCommand {
    std::string name, folder;
    unsigned size = 8;
  };
  auto options = std::make_shared<NewCommand>();
  CLI::App* command =
      dut.add_subcommand("new", "writes a wrapper, a small array, its description and a Makefile");
  command->add_option("template", options->name, "the dataflow of the array")
      ->required()
      ->check(one_of(dut::template_names()));
  command->add_option("directory", options->folder,
                      "where the files go (default: the template's name)");
  command->add_option("--size", options->size, "rows and columns")
      ->transform(whole_number(2, 128))
      ->capture_default_str();
  command->callback([options, &result] {
    const std::string folder = options->folder.empty() ? options->name : options->folder;
    for (const auto& file : dut::write_template(options->name, options->size, folder)) {
      print_report("{}\n", file.string());
    }
    print_report("Next: gemm64 dut check {}/array.toml\n", folder);
    result = 0;
  });
}

void add_dut_command(CLI::App& app, int& result) {
  CLI::App* command = app.add_subcommand(
      "dut", "a systolic array of your own: checked, and run with whole networks");
  command->require_subcommand(1);
  add_dut_new_command(*command, result);
  add_dut_check_command(*command, result);
  add_dut_run_command(*command, result);
  add_dut_mutants_command(*command, result);
  add_dut_prove_command(*command, result);
  add_dut_compare_command(*command, result);
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// `dut prove`: an array's sums for all operands.
#include <memory>

#include "host/cli/dut_options.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/dut/proof.hpp"
#include "host/report/progress.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

struct DutProveCommand : DutOptions {
  unsigned tiles = 2;
  std::uint64_t cycles = 0;
  std::uint64_t seconds = 600;
  std::string trace = "dut.fst";
  bool no_trace = false;
};

int prove(const DutProveCommand& options) {
  ClaimedFiles files;
  files.input("the description", options.file);
  files.output("--json", options.json);
  files.output("--trace", options.trace);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const dut::Description description = dut::read_description(options.file);
  dut::ProofOptions proof;
  proof.build = build_options(options);
  proof.tiles = options.tiles;
  proof.cycles = options.cycles;
  proof.seconds = static_cast<double>(options.seconds);
  if (!options.no_trace) proof.waveform = options.trace;
  ProgressBar bar;
  bar.show("proving " + description.top, 0);
  const dut::ProofResult result = dut::prove(description, proof);
  bar.erase();
  print_report(dut::proof_text(description, proof, result));
  if (json) {
    keep_going([&] { json->write(dut::proof_json(description, result).dump(2) + "\n"); });
  }
  return result.proven ? 0 : 1;
}

}  // namespace

void add_dut_prove_command(CLI::App& dut, int& result) {
  auto options = std::make_shared<DutProveCommand>();
  CLI::App* command = dut.add_subcommand(
      "prove", "proves for all operands that a small array's sums are those of the definition");
  add_dut_options(*command, *options);
  command->add_option("--tiles", options->tiles, "that follow each other after the reset")
      ->transform(whole_number(1, 8))
      ->capture_default_str();
  command
      ->add_option("--cycles", options->cycles,
                   "after the reset that the proof covers\n"
                   "Without it: until the last result of a simulated run, and 8 more.")
      ->transform(whole_number(1, 10000));
  command->add_option("--seconds", options->seconds, "after which the solver gives up")
      ->transform(whole_number(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--trace", options->trace,
                   "of a counterexample, writes the waveform to this FST file, and a save file for "
                   "GTKWave next to it")
      ->capture_default_str();
  command->add_flag("--no-trace", options->no_trace, "writes no waveform");
  command->footer(
      "Needs Yosys and Python. The first time, pip installs the solver Bitwuzla.\n"
      "Exit codes: 0 proven, 1 a counterexample or the time limit, 2 bad usage or input, 3 an "
      "output was lost.");
  command->callback([options, &result] { result = prove(*options); });
}

}  // namespace gemm64

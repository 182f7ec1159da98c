// SPDX-License-Identifier: Apache-2.0
#include "host/dut/waveform.hpp"

#include <fmt/format.h>

#include "host/dut/verilated_bench.hpp"
#include "host/util/output_file.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

/// Time 2t is the first half of a cycle t, counted from the end of the reset.
std::uint64_t time_of(const Description& description, std::uint64_t cycle) {
  return 2 * (description.reset_cycles + cycle);
}

/// GTKWave's save file: the ports, stream by stream, around the failure.
std::string save_file(const Description& description, const BuiltModel& model,
                      const Failure& failure, const fs::path& fst) {
  const std::uint64_t at = time_of(description, failure.cycle);
  std::string text =
      fmt::format("[*] {}: {}\n[dumpfile] \"{}\"\n[timestart] {}\n*-4.0 {}", failure.rule,
                  failure.problem.substr(0, failure.problem.find('\n')), fs::absolute(fst).string(),
                  at > 80 ? at - 80 : 0, at);
  for (int marker = 0; marker < 26; ++marker) text += marker == 0 ? fmt::format(" {}", at) : " -1";
  text += fmt::format("\n[treeopen] TOP.\n[treeopen] TOP.{}.\n", description.top);
  std::string stream;
  for (const Port& port : model.ports) {
    const std::string own = port.name.substr(0, port.name.rfind("_t"));
    if (own != stream) text += fmt::format("@200\n-{}\n", own);
    stream = own;
    text += fmt::format("@{}\nTOP.{}.{}{}\n", port.bits == 1 ? "28" : "22", description.top,
                        port.name, port.bits == 1 ? "" : fmt::format("[{}:0]", port.bits - 1));
    if (port.name != "m_axis_results_tdata" || failure.column < 0) continue;
    // The sum in question as a signed number.
    const auto bits = static_cast<std::int64_t>(description.sums.bits);
    const std::int64_t low = failure.column * bits;
    text += fmt::format("@c00420\n#{{sum of column {}}}", failure.column);
    for (std::int64_t bit = low + bits - 1; bit >= low; --bit) {
      text += fmt::format(" ({})TOP.{}.{}[{}:0]", port.bits - 1 - bit, description.top, port.name,
                          port.bits - 1);
    }
    text += "\n@1401200\n-group_end\n";
  }
  return text;
}

}  // namespace

fs::path write_waveform(const Description& description, const Failure& failure,
                        const BuildOptions& build, const fs::path& fst) {
  BuildOptions options = build;
  options.trace = true;
  options.simulator = Simulator::kVerilator;
  const BuiltModel model = build_model(description, options);
  VerilatedBench bench(description, model);
  bench.restart(failure.seed);
  Stimulus stimulus = failure.stimulus;
  if (stimulus.reset_at != 0) {
    bench.run(stimulus);
    stimulus.reset_at = 0;
    stimulus.tiles.resize(1);
  }
  OutputFile file(fst, "the waveform");
  bench.trace(fs::absolute(file.temporary()).string());
  bench.run(stimulus);
  file.commit();
  fs::path save = fst;
  save.replace_extension(".gtkw");
  OutputFile(save, "GTKWave's save file").write(save_file(description, model, failure, fst));
  return save;
}

}  // namespace gemm64::dut

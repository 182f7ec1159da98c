// SPDX-License-Identifier: Apache-2.0
#include "host/dut/proof.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "host/dut/assets.hpp"
#include "host/dut/check_report.hpp"
#include "host/dut/conformance_cases.hpp"
#include "host/dut/python_tool.hpp"
#include "host/dut/scratch.hpp"
#include "host/dut/subprocess.hpp"
#include "host/dut/verilated_bench.hpp"
#include "host/dut/waveform.hpp"
#include "host/dut/yosys.hpp"
#include "host/util/error.hpp"
#include "host/util/output_file.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRule = "definition";
constexpr const char* kProofTop = "gemm64_dut_proof_top";

/// Cycles after the last result of a simulated run: none may follow it, and a result may come later
/// for other operands.
constexpr std::uint64_t kSpare = 8;

/// Tiles of the proof's shape, with some operands.
Stimulus tiles_of_proof(const Description& of, unsigned tiles) {
  Stimulus stimulus;
  for (unsigned i = 0; i < tiles; ++i) {
    Tile tile = random_tile(of, std::max<std::int64_t>(2, of.rows), 90 + i);
    stimulus.tiles.push_back(std::move(tile));
  }
  return stimulus;
}

std::string config_of(const Description& of, const std::vector<Port>& ports,
                      const Stimulus& stimulus, std::uint64_t last_cycle) {
  std::string text;
  const auto define = [&text](const char* name, const auto& value) {
    text += fmt::format("`define {} {}\n", name, value);
  };
  const auto width = [&ports](const std::string& name) {
    for (const Port& port : ports) {
      if (port.name == name) return port.bits;
    }
    return 1U;
  };
  const Tile& tile = stimulus.tiles.front();
  const Values results = product(of, tile);
  const Eigen::Index depth = of.output_stationary() ? tile.weights.rows() : Eigen::Index{of.rows};
  define("GEMM64_DUT_TOP", kProofTop);
  define("GEMM64_DUT_PORTS", optional_connections(of, ports));
  define("WEIGHT_BITS", width("s_axis_weights_tdata"));
  define("ACTIVATION_BITS", width("s_axis_activations_tdata"));
  define("SUM_BITS", width("s_axis_sums_tdata"));
  define("RESULT_BITS", width("m_axis_results_tdata"));
  define("WEIGHT_WIDTH", of.weights.bits);
  define("ACTIVATION_WIDTH", of.activations.bits);
  define("SUM_WIDTH", of.sums.bits);
  // A sum of `depth` products and one partial sum, and its sign.
  define("EXACT_WIDTH",
         std::max(of.weights.bits + of.activations.bits + 2 + static_cast<int>(depth),
                  of.sums.bits + 2));
  define("WEIGHTS_SIGNED", of.weights.is_signed ? 1 : 0);
  define("ACTIVATIONS_SIGNED", of.activations.is_signed ? 1 : 0);
  define("SUMS_SIGNED", of.sums.is_signed ? 1 : 0);
  define("SATURATES", of.overflow == Overflow::kSaturate ? 1 : 0);
  define("SATURATES_EACH", of.overflow == Overflow::kSaturateEach ? 1 : 0);
  define("PRODUCT_SHIFT", of.product_shift);
  define("ROUNDING", fmt::format("64'sd{}", of.round_products && of.product_shift != 0
                                                ? std::int64_t{1} << (of.product_shift - 1)
                                                : 0));
  define("SUM_HIGH", fmt::format("64'd{}", of.sums.high()));
  define("SUM_LOW", fmt::format("(-64'sd{})", -of.sums.low()));
  define("TILES", stimulus.tiles.size());
  define("WEIGHT_BEATS", tile.weights.rows());
  define("ACTIVATION_BEATS", tile.activations.rows());
  define("RESULT_BEATS", results.rows());
  define("WEIGHT_LANES", tile.weights.cols());
  define("ACTIVATION_LANES", tile.activations.cols());
  define("COLUMNS", of.columns);
  define("DEPTH", depth);
  define("HAVE_SUMS", of.partial_sums ? 1 : 0);
  define("HAVE_TLAST", of.results_tlast ? 1 : 0);
  define("WEIGHTS_WAIT", of.backpressure[kWeights] ? 1 : 0);
  define("ACTIVATIONS_WAIT", of.backpressure[kActivations] ? 1 : 0);
  define("SUMS_WAIT", of.backpressure[kSums] ? 1 : 0);
  define("ONE_TILE", of.overlaps() ? 0 : 1);
  define("TOGETHER", of.output_stationary() ? 1 : 0);
  define("WEIGHTS_MOVE", of.moving() == kWeights ? 1 : 0);
  define("RESET_CYCLES", of.reset_cycles);
  define("LAST_CYCLE", of.reset_cycles + last_cycle);
  return text;
}

/// Registers with a cycle of their own would be proven of another design: a cycle is a step.
void check_clock_edges(const Description& of, const fs::path& folder) {
  const std::string list = [&folder] {
    std::ifstream in(folder / "other_clock.txt");
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  if (list.empty()) return;
  std::string first = list.substr(0, list.find('\n'));
  first = first.substr(first.find('/') + 1);
  throw UsageError(fmt::format(
      "{}: prove needs registers on the rising edge of aclk, and no latches; {} is another one",
      of.file, printable(first, 200)));
}

void write_model(const Description& of, const fs::path& folder, const fs::path& cache) {
  run_yosys(of, folder,
            fmt::format("rename -top {}\n"
                        "select -write other_clock.txt t:$*dff* t:$*latch* %u t:$sr %u w:aclk "
                        "%co1:+[CLK] %d t:$*dff* r:CLK_POLARITY=1'0 %i %u\n"
                        "read_verilog -sv -formal -I. proof.v\n"
                        "hierarchy -check -top gemm64_dut_proof\nproc\nflatten\nopt_clean\n"
                        "setundef -undriven -anyseq\nopt -full\nwreduce\nopt -full\n"
                        "memory -nomap -nordff\nopt_clean\nasync2sync\ndffunmap\n"
                        "write_smt2 -wires model.smt2\n",
                        kProofTop),
            cache);
  check_clock_edges(of, folder);
}

/// Values of a counterexample's nets, in binary digits.
using Nets = std::map<std::string, std::string>;

std::int64_t value_of(const std::string& digits, std::size_t at, const Operand& type) {
  const auto bits = static_cast<std::size_t>(type.bits);
  std::uint64_t value = 0;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    const std::size_t place = at * bits + bit;
    if (place < digits.size() && digits[digits.size() - 1 - place] == '1') {
      value |= std::uint64_t{1} << bit;
    }
  }
  if (type.is_signed && ((value >> (bits - 1)) & 1U) != 0) value |= ~std::uint64_t{0} << bits;
  return static_cast<std::int64_t>(value);
}

/// Rows of beats from `first` on, in the shape of `like`.
void set_values(Values& like, const std::string& digits, std::size_t first, const Operand& type) {
  for (Eigen::Index i = 0; i < like.size(); ++i) {
    like.data()[i] = value_of(digits, first + static_cast<std::size_t>(i), type);
  }
}

Stimulus with_operands(const Description& of, Stimulus stimulus, Nets& nets) {
  std::size_t tile = 0;
  for (Tile& one : stimulus.tiles) {
    const auto set = [&](Values& values, const char* net, const Operand& type) {
      set_values(values, nets[net], tile * static_cast<std::size_t>(values.size()), type);
    };
    set(one.weights, "operand_weights", of.weights);
    set(one.activations, "operand_activations", of.activations);
    if (of.partial_sums) set(one.sums, "operand_sums", of.sums);
    ++tile;
  }
  return stimulus;
}

/// The failure as the solver saw it.
Failure solvers_failure(const Description& of, const Stimulus& stimulus, Nets& nets,
                        std::uint64_t cycle) {
  Failure failure{kRule, "", "", stimulus};
  failure.cycle = cycle;
  const auto rows = static_cast<std::int64_t>(product(of, stimulus.tiles.front()).rows());
  const std::int64_t beat = value_of(nets["result"], 0, {16, false});
  failure.tile = beat / rows;
  failure.row = beat % rows;
  if (nets["value"] == "1") {
    failure.problem = "wrong value";
    for (unsigned c = 0; c < of.columns; ++c) {
      const std::int64_t expected = value_of(nets["expected_row"], c, of.sums);
      const std::int64_t got = value_of(nets["result_row"], c, of.sums);
      if (expected == got) continue;
      failure.column = c;
      failure.expected = expected;
      failure.got = std::to_string(got);
      break;
    }
  } else if (nets["last"] == "1") {
    failure.problem = "TLAST of m_axis_results is wrong";
  } else if (nets["missing"] == "1") {
    failure.problem = fmt::format(
        "{} of {} rows of results came; more --cycles may be needed if the latency "
        "depends on the operands",
        beat, rows * static_cast<std::int64_t>(stimulus.tiles.size()));
  } else {
    failure.problem = "a result came that no input leads to";
  }
  return failure;
}

/// GTKWave's save file of the solver's own waveform: the streams, and the marker.
void write_save(const fs::path& vcd, std::uint64_t cycle) {
  std::string text =
      fmt::format("[dumpfile] \"{}\"\n*-3.0 {}", fs::absolute(vcd).string(), 2 * cycle);
  for (int marker = 1; marker < 27; ++marker) text += " -1";
  text += "\n";
  for (const char* net :
       {"aclk", "aresetn", "weights_tvalid", "weights_tready", "activations_tvalid",
        "activations_tready", "results_tvalid", "value", "last", "extra", "missing"}) {
    text += fmt::format("@28\ngemm64_dut_proof.{}\n", net);
  }
  fs::path save = vcd;
  OutputFile(save.replace_extension(".gtkw"), "GTKWave's save file").write(text);
}

class Proof {
 public:
  Proof(const Description& of, const ProofOptions& options)
      : of_(of), options_(options), stimulus_(tiles_of_proof(of, options.tiles)) {}

  ProofResult run() {
    const auto begin = std::chrono::steady_clock::now();
    const BuiltModel model = build_model(of_, options_.build);
    for (const Tile& tile : stimulus_.tiles) {
      const Values results = product(of_, tile);
      result_.lengths.push_back(of_.moving() == kWeights ? tile.weights.rows()
                                                         : tile.activations.rows());
      result_.sums += static_cast<std::uint64_t>(results.size());
      result_.operand_bits += static_cast<std::uint64_t>(
          tile.weights.size() * of_.weights.bits + tile.activations.size() * of_.activations.bits +
          tile.sums.size() * of_.sums.bits);
    }
    VerilatedBench bench(of_, model);
    if (!simulate(bench)) solve(bench, model);
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result_;
  }

 private:
  /// How many cycles the tiles need; true if they fail already.
  bool simulate(VerilatedBench& bench) {
    const Observation seen = bench.run(stimulus_);
    result_.counterexample = evaluate(of_, kRule, stimulus_, seen);
    result_.cycles = options_.cycles != 0 ? options_.cycles : seen.answer.cycles + kSpare;
    if (!result_.counterexample) return false;
    found(*result_.counterexample, bench);
    return true;
  }

  /// Two tiles of any operands often fit several defects; the suite's one-hot operands fit one.
  void found(Failure failure, VerilatedBench& bench) {
    if (!names_defect(failure.diagnosis)) {
      const std::string defect =
          defect_of_suite(of_, [&bench](std::uint32_t) -> VerilatedBench& { return bench; });
      if (!defect.empty()) failure.diagnosis = defect;
    }
    result_.counterexample = failure;
    result_.replayed = true;
    if (options_.waveform.empty()) return;
    result_.waveform = write_waveform(of_, failure, options_.build, options_.waveform);
  }

  void solve(VerilatedBench& bench, const BuiltModel& model) {
    const fs::path cache =
        options_.build.cache.empty() ? default_cache() : fs::absolute(options_.build.cache);
    const fs::path python = python_with(kBitwuzla, cache);
    const Scratch scratch(fs::temp_directory_path());
    const fs::path& folder = scratch.path();
    std::ofstream(folder / "proof.v") << asset("proof.v");
    std::ofstream(folder / "proof.py") << asset("proof.py");
    std::ofstream(folder / "proof_config.vh")
        << config_of(of_, model.ports, stimulus_, result_.cycles);
    write_model(of_, folder, cache);
    const std::uint64_t steps = of_.reset_cycles + result_.cycles + 1;
    const Finished finished =
        run_program_in(folder, {python.string(), "proof.py", "model.smt2", std::to_string(steps),
                                fmt::format("{}", options_.seconds), "counterexample.vcd"});
    if (finished.code != 0) {
      throw UsageError(fmt::format(
          "{}: the solver gave up: {}", of_.file,
          printable(finished.output.substr(finished.output.size() -
                                           std::min<std::size_t>(finished.output.size(), 300)),
                    300)));
    }
    read_answer(finished.output, bench, folder / "counterexample.vcd");
  }

  void read_answer(const std::string& output, VerilatedBench& bench, const fs::path& vcd) {
    Nets nets;
    std::uint64_t failed = 0;
    std::istringstream in(output);
    for (std::string word, value; in >> word;) {
      if (word == "proven") result_.proven = true;
      if (word == "proven" || word == "timeout") continue;
      in >> value;
      if (word == "cycle") result_.shown = after_reset(std::stoull(value));
      if (word == "failed") failed = after_reset(std::stoull(value));
      nets[word] = value;
    }
    if (result_.proven || nets.count("failed") == 0) return;
    const Stimulus stimulus = with_operands(of_, stimulus_, nets);
    // What registers hold before the reset is the solver's choice, but the simulation's too.
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
      bench.restart(seed);
      if (std::optional<Failure> failure = evaluate(of_, kRule, stimulus, bench.run(stimulus))) {
        failure->seed = seed;
        found(*failure, bench);
        return;
      }
    }
    result_.counterexample = solvers_failure(of_, stimulus, nets, failed);
    if (options_.waveform.empty()) return;
    result_.waveform = fs::path(options_.waveform).replace_extension(".vcd");
    std::ifstream from(vcd, std::ios::binary);
    OutputFile(result_.waveform, "the waveform")
        .write(std::string(std::istreambuf_iterator<char>(from), {}));
    write_save(result_.waveform, of_.reset_cycles + failed);
  }

  std::uint64_t after_reset(std::uint64_t step) const {
    return step < of_.reset_cycles ? 0 : step - of_.reset_cycles;
  }

  const Description& of_;
  const ProofOptions& options_;
  const Stimulus stimulus_;
  ProofResult result_;
};

std::vector<std::string> assumptions(const Description& of) {
  std::vector<std::string> all;
  if (of.overlaps()) {
    all.emplace_back(
        "TVALID of an input is high as long as it has a beat, and TREADY of the "
        "results is always high");
  } else {
    all.emplace_back(
        "one tile at a time, since an input has no backpressure; TREADY of the results "
        "is always high");
  }
  all.emplace_back("TDATA and TLAST of an input are any value while its TVALID is low");
  all.emplace_back(
      fmt::format("aresetn is low for {}; registers start with any value unless the source "
                  "initializes them",
                  counted(of.reset_cycles, "cycle")));
  return all;
}

std::string shape_in_words(const Description& of, const ProofResult& result) {
  return fmt::format("{} of length {} on {}×{}, {}: {} bits of operands",
                     counted(result.lengths.size(), "tile"), fmt::join(result.lengths, ", "),
                     of.rows, of.columns, name_of(of.dataflow), grouped(result.operand_bits));
}

}  // namespace

ProofResult prove(const Description& description, const ProofOptions& options) {
  if (std::max(description.rows, description.columns) > kLargestProof) {
    throw UsageError(fmt::format(
        "{}: {}×{} cells are too many for a proof; describe the same sources with "
        "parameters for at most {}×{}, better 2×2 to 4×4",
        description.file, description.rows, description.columns, kLargestProof, kLargestProof));
  }
  return Proof(description, options).run();
}

std::string proof_text(const Description& of, const ProofOptions& options,
                       const ProofResult& result) {
  const std::string shape = shape_in_words(of, result);
  std::string text;
  if (result.counterexample) {
    text = failure_text(of, *result.counterexample);
    if (!result.replayed) {
      text +=
          "  The simulation does not show it: it needs values that registers hold before the "
          "reset, or that streams carry while TVALID is low.\n";
    }
    if (!result.waveform.empty()) {
      text += fmt::format("\nwaveform: gtkwave {}\n", result.waveform.string());
    }
    return text + fmt::format("\nNOT PROVEN: a counterexample; {}.\n", shape);
  }
  text = fmt::format("{}\nassumed:\n", shape);
  for (const std::string& line : assumptions(of)) text += "  " + line + "\n";
  text += "not covered: stalls, other lengths and sizes (gemm64 dut check tries some)\n\n";
  if (result.proven) {
    return text + fmt::format(
                      "PROVEN: for all operands, each of the {} sums equals the "
                      "definition{}, and nothing else comes until cycle {} after the "
                      "reset.\n",
                      grouped(result.sums),
                      of.results_tlast ? ", TLAST comes with the last row of each tile" : "",
                      result.cycles);
  }
  return text + fmt::format(
                    "NOT PROVEN: the time limit of {:.0f} s was reached; shown until cycle "
                    "{} of {}. Raise --seconds, or prove a smaller array or fewer --tiles.\n",
                    options.seconds, result.shown, result.cycles);
}

nlohmann::ordered_json proof_json(const Description& of, const ProofResult& result) {
  nlohmann::ordered_json json = {{"format", 1},
                                 {"description", of.file},
                                 {"top", of.top},
                                 {"rows", of.rows},
                                 {"columns", of.columns},
                                 {"dataflow", name_of(of.dataflow)},
                                 {"proven", result.proven},
                                 {"timed_out", result.timed_out()},
                                 {"lengths", result.lengths},
                                 {"operand_bits", result.operand_bits},
                                 {"sums", result.sums},
                                 {"cycles", result.cycles},
                                 {"shown_cycles", result.shown},
                                 {"assumptions", assumptions(of)},
                                 {"seconds", result.seconds}};
  if (!result.waveform.empty()) json["waveform"] = result.waveform.string();
  if (result.counterexample) {
    json["failure"] = failure_json(of, *result.counterexample);
    json["failure"]["replayed"] = result.replayed;
  }
  return json;
}

}  // namespace gemm64::dut

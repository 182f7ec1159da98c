// SPDX-License-Identifier: Apache-2.0
#include "host/dut/icarus_bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "host/dut/assets.hpp"
#include "host/dut/conformance_cases.hpp"
#include "host/dut/scratch.hpp"
#include "host/dut/subprocess.hpp"
#include "host/dut/verilated_bench.hpp"
#include "host/error.hpp"
#include "host/text.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

unsigned width_of(const std::vector<Port>& ports, const std::string& name) {
  for (const Port& port : ports) {
    if (port.name == name) return port.bits;
  }
  return 1;
}

/// A line for each beat: TLAST above `bits` of TDATA, in hexadecimal.
std::string hex_of(const Chunk& chunk, Stream stream, unsigned bits) {
  const std::size_t bytes = (bits + 7) / 8;
  std::string text;
  for (std::size_t beat = 0; beat < chunk.last[stream].size(); ++beat) {
    std::vector<unsigned> digits(bits / 4 + 1, 0);
    for (unsigned bit = 0; bit <= bits; ++bit) {
      const unsigned value = bit == bits
                                 ? chunk.last[stream][beat]
                                 : (chunk.data[stream][beat * bytes + bit / 8] >> (bit % 8)) & 1U;
      digits[bit / 4] |= value << (bit % 4);
    }
    for (std::size_t i = digits.size(); i-- > 0;) text += fmt::format("{:x}", digits[i]);
    text += "\n";
  }
  return text;
}

std::string config_of(const Description& of, const std::vector<Port>& ports, const Chunk& chunk) {
  std::string text;
  const auto define = [&text](const char* name, const auto& value) {
    text += fmt::format("`define {} {}\n", name, value);
  };
  std::vector<std::string> parameters;
  for (const auto& [name, value] : of.parameters) {
    parameters.push_back(fmt::format(".{}({})", name, value));
  }
  define("GEMM64_DUT_TOP", of.top);
  define("GEMM64_DUT_PARAMETERS",
         parameters.empty() ? "" : fmt::format("#({})", fmt::join(parameters, ", ")));
  define("GEMM64_DUT_PORTS", optional_connections(of, ports));
  define("WEIGHT_BITS", width_of(ports, "s_axis_weights_tdata"));
  define("ACTIVATION_BITS", width_of(ports, "s_axis_activations_tdata"));
  define("SUM_BITS", width_of(ports, "s_axis_sums_tdata"));
  define("RESULT_BITS", width_of(ports, "m_axis_results_tdata"));
  define("WEIGHT_BEATS", chunk.request.beats[kWeights]);
  define("ACTIVATION_BEATS", chunk.request.beats[kActivations]);
  define("SUM_BEATS", chunk.request.beats[kSums]);
  define("RESULT_BEATS", chunk.request.results);
  define("WEIGHTS_WAIT", of.backpressure[kWeights] ? 1 : 0);
  define("ACTIVATIONS_WAIT", of.backpressure[kActivations] ? 1 : 0);
  define("SUMS_WAIT", of.backpressure[kSums] ? 1 : 0);
  define("ONE_TILE", of.overlaps() ? 0 : 1);
  define("TOGETHER", of.output_stationary() ? 1 : 0);
  define("WEIGHTS_MOVE", of.moving() == kWeights ? 1 : 0);
  define("ROWS", of.rows);
  define("RESET_CYCLES", of.reset_cycles);
  define("IDLE_LIMIT", of.idle_limit());
  return text;
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A beat as "01x1...", the highest bit first.
ResultBeat beat_of(const Description& of, const std::string& bits) {
  ResultBeat beat;
  const unsigned count = of.beat_bits(kResults);
  std::vector<std::uint8_t> bytes((count + 7) / 8);
  for (unsigned bit = 0; bit < count && bit < bits.size(); ++bit) {
    const char value = bits[bits.size() - 1 - bit];
    if (value != '0' && value != '1') beat.unknown = true;
    if (value == '1') bytes[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
  }
  beat.values = values_of(bytes.data(), of.columns, of.sums);
  return beat;
}

Observation observation_of(const Description& of, const std::string& output) {
  Observation seen;
  seen.answer.status = kFatal;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, last, bits;
    std::uint64_t cycle = 0;
    words >> kind >> cycle;
    if (kind == "R" && words >> last >> bits) {
      seen.results.push_back(beat_of(of, bits));
      seen.results.back().cycle = cycle;
      seen.results.back().last = last == "1";
      if (of.results_tlast && last != "0" && last != "1") seen.results.back().unknown = true;
    } else if (kind == "X" && words >> last) {
      seen.text = fmt::format("{} is X in cycle {}", last, cycle);
      seen.answer.cycles = cycle;
    } else if (kind == "END") {
      seen.answer.status = kDone;
      seen.answer.cycles = cycle;
    }
  }
  return seen;
}

}  // namespace

IcarusBench::IcarusBench(const Description& description, std::vector<Port> ports)
    : description_(description), ports_(std::move(ports)) {
  if (!has_program("iverilog")) {
    throw UsageError("--icarus: iverilog is not installed; type apt-get install iverilog");
  }
}

Observation IcarusBench::run(const Stimulus& stimulus) {
  const Scratch scratch(fs::temp_directory_path());
  const fs::path& folder = scratch.path();
  const Chunk chunk = chunk_of(description_, stimulus);
  write(folder / "icarus_bench.v", asset("icarus_bench.v"));
  write(folder / "icarus_config.vh", config_of(description_, ports_, chunk));
  write(folder / "weights.hex", hex_of(chunk, kWeights, width_of(ports_, "s_axis_weights_tdata")));
  write(folder / "activations.hex",
        hex_of(chunk, kActivations, width_of(ports_, "s_axis_activations_tdata")));
  if (description_.partial_sums) {
    write(folder / "sums.hex", hex_of(chunk, kSums, width_of(ports_, "s_axis_sums_tdata")));
  }
  std::vector<std::string> words{"iverilog", "-g2012", "-o", "bench", "-s", "icarus_bench", "-I."};
  for (const fs::path& include : description_.include) words.push_back("-I" + include.string());
  for (const fs::path& source : description_.sources) {
    words.push_back("-I" + source.parent_path().string());
  }
  for (const auto& [name, value] : description_.defines) {
    words.push_back(fmt::format("-D{}={}", name, value));
  }
  words.emplace_back("icarus_bench.v");
  for (const fs::path& source : description_.sources) words.push_back(source.string());
  const Finished compiled = run_program_in(folder, words);
  if (compiled.code != 0) {
    throw UsageError(
        fmt::format("{}: does not compile in Icarus: {}", description_.file,
                    printable(compiled.output.substr(0, compiled.output.find('\n')), 300)));
  }
  return observation_of(description_, run_program_in(folder, {"vvp", "-n", "bench"}).output);
}

RuleResult check_unknowns(const Description& description, const std::vector<Port>& ports) {
  RuleResult result{"x-after-reset", "nothing is unknown after a reset, in Icarus", 0, {}, ""};
  IcarusBench bench(description, ports);
  for (const unsigned tiles : {1U, 3U}) {
    Stimulus stimulus;
    for (unsigned i = 0; i < tiles; ++i) {
      stimulus.tiles.push_back(random_tile(description, i + 1, 70 + i));
    }
    ++result.cases;
    Observation seen;
    try {
      seen = bench.run(stimulus);
    } catch (const UsageError& error) {
      // Icarus knows less of SystemVerilog than Verilator.
      result.skipped = error.what();
      return result;
    }
    result.failure = evaluate(description, result.rule, stimulus, seen);
    if (result.failure && !seen.text.empty()) result.failure->problem = seen.text;
    std::uint64_t expected = 0;
    for (const Tile& tile : stimulus.tiles) {
      expected += static_cast<std::uint64_t>(product(description, tile).rows());
    }
    if (!result.failure && seen.results.size() != expected) {
      result.failure = Failure{
          result.rule,
          fmt::format("{} of {} rows of results came in Icarus", seen.results.size(), expected), "",
          stimulus};
    }
    if (result.failure) return result;
  }
  return result;
}

}  // namespace gemm64::dut

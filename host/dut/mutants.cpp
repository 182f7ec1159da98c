// SPDX-License-Identifier: Apache-2.0
#include "host/dut/mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "host/dut/conformance.hpp"
#include "host/dut/scratch.hpp"
#include "host/dut/verilated_bench.hpp"
#include "host/dut/yosys.hpp"
#include "host/util/error.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTop = "gemm64_dut_mutated";

/// "$flatten\u.\pe10.$ternary$/some/pe.v:43$49" as "u.pe10.ternary".
std::string cell_in_words(const std::string& name) {
  return std::regex_replace(name, std::regex(R"(\$flatten|\\|\$[^$]*/[^$]*|\$\d+$|\$)"), "");
}

/// "mutate -ctrl gemm64_mutant 16 3 -mode inv ... -wire W -wirebit 4 -src pe.v:19.31-19.39 ...".
Mutant mutant_of(const std::string& line) {
  const auto field = [&line](const char* name) {
    std::smatch match;
    return std::regex_search(line, match, std::regex(fmt::format("-{} (\\S+)", name)))
               ? match[1].str()
               : std::string();
  };
  // A cell's name has its place; sources also list the instances that it is in.
  const std::string cell = field("cell");
  std::smatch place;
  const bool named = std::regex_search(cell, place, std::regex(R"(/([^/]+:\d+)\$\d+$)"));
  const std::string source = named ? place[1].str()
                                   : std::regex_replace(fs::path(field("src")).filename().string(),
                                                        std::regex(R"((:\d+)[.-].*)"), "$1");
  const std::string wire = field("wire");
  return {fmt::format("{} of bit {} of {}", field("mode"),
                      wire.empty() ? field("portbit") : field("wirebit"),
                      wire.empty() ? cell_in_words(cell) + " " + field("port") : wire),
          source, ""};
}

}  // namespace

std::uint64_t MutationResult::killed() const {
  return static_cast<std::uint64_t>(std::count_if(
      mutants.begin(), mutants.end(), [](const Mutant& mutant) { return !mutant.rule.empty(); }));
}

std::map<std::string, std::uint64_t> MutationResult::by_rule() const {
  std::map<std::string, std::uint64_t> counts;
  for (const Mutant& mutant : mutants) {
    if (!mutant.rule.empty()) ++counts[mutant.rule];
  }
  return counts;
}

MutationResult run_mutants(const Description& description, const BuildOptions& options,
                           unsigned count, std::uint32_t seed,
                           const std::function<void(double)>& progress) {
  const Scratch scratch(fs::temp_directory_path());
  const fs::path& folder = scratch.path();
  run_yosys(description, folder,
            fmt::format("rename -top {}\n"
                        "mutate -list {} -seed {} -ctrl {} 16 1 -o mutants.txt\n"
                        "script mutants.txt\nopt_clean\nwrite_verilog -noattr mutated.v\n",
                        kTop, count, seed, kMutantPort),
            options.cache);
  MutationResult result;
  std::ifstream list(folder / "mutants.txt");
  for (std::string line; std::getline(list, line);) {
    if (line.rfind("mutate ", 0) == 0) result.mutants.push_back(mutant_of(line));
  }
  Description mutated = description;
  mutated.top = kTop;
  mutated.sources = {folder / "mutated.v"};
  mutated.include.clear();
  mutated.parameters.clear();
  mutated.defines.clear();
  BuildOptions brief = options;
  brief.brief = true;
  const BuiltModel model = build_model(mutated, brief);
  VerilatedBench bench(mutated, model);
  for (std::size_t i = 0; i <= result.mutants.size(); ++i) {
    std::uint32_t own = 1;
    bench.choose_mutant(static_cast<unsigned>(i));
    bench.restart(own);
    const std::optional<Failure> failure =
        first_failure(mutated, [&](std::uint32_t wanted) -> VerilatedBench& {
          if (wanted != own) bench.restart(wanted);
          own = wanted;
          return bench;
        });
    if (i == 0 && failure) {
      throw UsageError(fmt::format("{}: fails rule {} without a mutant; gemm64 dut check shows why",
                                   description.file, failure->rule));
    }
    if (i > 0 && failure) result.mutants[i - 1].rule = failure->rule;
    progress(static_cast<double>(i + 1) / static_cast<double>(result.mutants.size() + 1));
  }
  return result;
}

}  // namespace gemm64::dut

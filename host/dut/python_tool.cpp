// SPDX-License-Identifier: Apache-2.0
#include "host/dut/python_tool.hpp"

#include <fmt/format.h>

#include <vector>

#include "host/dut/scratch.hpp"
#include "host/dut/subprocess.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

bool has_module(const std::string& python, const PythonTool& tool) {
  return run_program_in("", {python, "-c", fmt::format("import {}", tool.module)}).code == 0;
}

/// The last line of the output names the reason.
[[noreturn]] void fail_install(const PythonTool& tool, const std::string& output) {
  const std::size_t end = output.find_last_not_of('\n');
  const std::size_t begin = end == std::string::npos ? end : output.rfind('\n', end);
  const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
  throw UsageError(fmt::format(
      "{0}, which this needs, cannot be installed: {2}; type scripts/setup/setup.sh formal, then "
      "python3 -m pip install {0}=={1}",
      tool.package, tool.version,
      end == std::string::npos ? "no reason is known"
                               : printable(output.substr(from, end + 1 - from), 300)));
}

}  // namespace

fs::path python_with(const PythonTool& tool, const fs::path& cache) {
  if (has_module("python3", tool)) return "python3";
  const fs::path folder = cache / fmt::format("{}-{}", tool.package, tool.version);
  const fs::path python = folder / "bin" / "python3";
  if (fs::exists(python) && has_module(python.string(), tool)) return python;
  // Under a name of its own first: other processes may do the same.
  const Scratch scratch(cache);
  const fs::path own = scratch.path() / "venv";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"python3", "-m", "venv", own.string()},
        {(own / "bin" / "python3").string(), "-m", "pip", "install", "--quiet",
         "--disable-pip-version-check", fmt::format("{}=={}", tool.package, tool.version)}}) {
    const Finished finished = run_program_in("", words);
    if (finished.code != 0) fail_install(tool, finished.output);
  }
  std::error_code other;
  if (!fs::exists(python)) fs::remove_all(folder, other);
  fs::rename(own, folder, other);
  if (!has_module(python.string(), tool)) fail_install(tool, "its module cannot be loaded");
  return python;
}

}  // namespace gemm64::dut

// SPDX-License-Identifier: Apache-2.0
#include "host/dut/templates.hpp"

#include <fmt/format.h>

#include <set>

#include "host/dut/assets.hpp"
#include "host/util/error.hpp"
#include "host/util/output_file.hpp"

namespace gemm64::dut {
namespace {

constexpr std::string_view kFolder = "templates/";
constexpr std::string_view kSize = "@N@";

std::string with_size(std::string_view text, unsigned size) {
  std::string out(text);
  for (std::size_t at; (at = out.find(kSize)) != std::string::npos;) {
    out.replace(at, kSize.size(), std::to_string(size));
  }
  return out;
}

}  // namespace

std::vector<std::string> template_names() {
  std::set<std::string> names;
  for (const Asset& one : assets()) {
    if (one.name.substr(0, kFolder.size()) != kFolder) continue;
    const std::string_view rest = one.name.substr(kFolder.size());
    names.emplace(rest.substr(0, rest.find('/')));
  }
  return {names.begin(), names.end()};
}

std::vector<std::filesystem::path> write_template(const std::string& name, unsigned size,
                                                  const std::filesystem::path& folder) {
  const std::string prefix = fmt::format("{}{}/", kFolder, name);
  std::vector<std::pair<std::filesystem::path, std::string_view>> files;
  for (const Asset& one : assets()) {
    if (one.name.substr(0, prefix.size()) != prefix) continue;
    files.emplace_back(folder / one.name.substr(prefix.size()), one.text);
    if (std::filesystem::exists(files.back().first)) {
      throw UsageError(fmt::format("{}: exists; name another directory, or remove it",
                                   files.back().first.string()));
    }
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UsageError(fmt::format("{}: {}", folder.string(), error.message()));
  std::vector<std::filesystem::path> written;
  for (const auto& [path, text] : files) {
    OutputFile(path).write(with_size(text, size));
    written.push_back(path);
  }
  return written;
}

}  // namespace gemm64::dut

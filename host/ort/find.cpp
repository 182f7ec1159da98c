// SPDX-License-Identifier: Apache-2.0
#include "host/ort/find.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "host/ort/api.hpp"

namespace gemm64::ort {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "GEMM64_ONNXRUNTIME";  // of the environment
constexpr const char* kFolder = "onnxruntime";           // of scripts/setup/fetch-onnxruntime.sh
constexpr const char* kPrefix = "libonnxruntime.so";

std::vector<fs::path> entries_of(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().rfind(prefix, 0) == 0) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The library in a folder, in that of the Python package, or in that of an environment with it;
/// empty if there is none.
fs::path library_in(const fs::path& folder) {
  std::vector<fs::path> folders{folder, folder / "onnxruntime/capi"};
  for (const fs::path& python : entries_of(folder / "lib", "python3")) {
    folders.push_back(python / "site-packages/onnxruntime/capi");
  }
  for (const fs::path& one : folders) {
    const std::vector<fs::path> found = entries_of(one, kPrefix);
    if (!found.empty()) return fs::absolute(found.front()).lexically_normal();
  }
  return {};
}

}  // namespace

fs::path own_folder() {
  Dl_info own{};
  if (dladdr(kVariable, &own) != 0 && own.dli_fname != nullptr) {
    const fs::path file = own.dli_fname;
    if (file.extension() == ".so") return fs::absolute(file).parent_path();
  }
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path find_library() {
  std::error_code error;
  const char* const named = std::getenv(kVariable);
  if (named != nullptr && *named != '\0') {
    const fs::path found = fs::is_directory(named, error) ? library_in(named) : fs::path(named);
    if (!found.empty() && fs::exists(found, error)) return fs::absolute(found);
    throw Error(ORT_NO_SUCHFILE,
                fmt::format("{}={}: there is no {} of ONNX Runtime; name the file, its folder or a "
                            "Python environment with the package onnxruntime",
                            kVariable, named, kPrefix));
  }
  const fs::path own = own_folder();
  // Next to the program; next to the Python package, installed or in the build folder.
  for (const fs::path& folder :
       {own / kFolder, own / "venv", own / "..", own / ".." / kFolder, own / "../.." / kFolder}) {
    const fs::path found = library_in(folder);
    if (!found.empty()) return found;
  }
  throw Error(ORT_NO_SUCHFILE,
              fmt::format("ONNX Runtime is not installed: there is no {} in {}; "
                          "scripts/setup/fetch-onnxruntime.sh {} "
                          "installs it, and {} names another one",
                          kPrefix, (own / kFolder).string(), (own / kFolder).string(), kVariable));
}

}  // namespace gemm64::ort

// SPDX-License-Identifier: Apache-2.0
#include "host/util/claimed_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "host/util/error.hpp"
#include "host/util/output_file.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

std::string node(const struct stat& found) {
  if (S_ISCHR(found.st_mode)) return "";
  return fmt::format("{}:{}", found.st_dev, found.st_ino);
}

/// The same text for all names of a file, whether it exists or not.
std::string identity(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) return node(found);
  std::error_code error;
  const fs::path full = fs::weakly_canonical(fs::absolute(followed(path)), error);
  return error ? fs::absolute(path).lexically_normal().string() : full.string();
}

}  // namespace

ClaimedFiles::ClaimedFiles() {
  const std::pair<int, const char*> streams[] = {{STDOUT_FILENO, "standard output"},
                                                 {STDERR_FILENO, "standard error"}};
  for (const auto& [number, what] : streams) {
    struct stat found {};
    if (fstat(number, &found) == 0 && S_ISREG(found.st_mode)) {
      claims_.push_back({what, node(found), true});
    }
  }
}

const ClaimedFiles::Claim* ClaimedFiles::find(const std::string& file) const {
  const auto claim = std::find_if(claims_.begin(), claims_.end(),
                                  [&](const Claim& other) { return other.file == file; });
  return file.empty() || claim == claims_.end() ? nullptr : &*claim;
}

void ClaimedFiles::input(const std::string& what, const std::string& path) {
  if (path.empty()) return;
  const std::string file = path == "-" ? "stdin" : identity(path);
  const Claim* const other = find(file);
  if (other != nullptr && path == "-") {
    throw UsageError(
        fmt::format("{} -: {} reads standard input already; name a file", what, other->what));
  }
  if (other != nullptr && other->written) {
    throw UsageError(fmt::format("{} {}: is the file that {} would write; name another", what, path,
                                 other->what));
  }
  claims_.push_back({what, file, false});
}

void ClaimedFiles::output(const std::string& what, const std::string& path) {
  if (path.empty()) return;
  const auto descriptor = descriptor_named(path);
  const std::string file = descriptor ? fmt::format("fd:{}", *descriptor) : identity(path);
  if (const Claim* const other = find(file)) {
    throw UsageError(fmt::format("{} {}: is the file that {} {}; name another", what, path,
                                 other->what, other->written ? "goes to" : "is read from"));
  }
  claims_.push_back({what, file, true});
}

}  // namespace gemm64

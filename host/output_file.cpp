// SPDX-License-Identifier: Apache-2.0
#include "host/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "host/error.hpp"

namespace gemm64 {
namespace {

UsageError cannot_write(const std::filesystem::path& path, const std::string& reason) {
  return UsageError(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.filename().empty() || std::filesystem::is_directory(path_)) {
    throw cannot_write(path_, "it names a folder, not a file");
  }
  temporary_ = path_;
  temporary_ += fmt::format(".{}.part", getpid());
  std::ofstream file(temporary_);
  if (!file) throw cannot_write(path_, "its folder does not exist or is not writable");
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void OutputFile::write(const std::string& contents) {
  std::ofstream file(temporary_, std::ios::binary | std::ios::trunc);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file) throw cannot_write(path_, "no space is left, or the disk failed");
  commit();
}

void OutputFile::commit() {
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) throw cannot_write(path_, error.message());
}

}  // namespace gemm64

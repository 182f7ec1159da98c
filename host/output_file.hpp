// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace gemm64 {

/// Opened before long work, so that a place that cannot be written is found at once; written beside
/// its name and moved there at the end. Without commit() nothing is left.
class OutputFile {
 public:
  /// Throws UsageError where `path` cannot be written.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary() const { return temporary_; }

  /// Writes `contents` to the temporary file and commits it.
  void write(const std::string& contents);
  /// Moves the temporary file to its name. Throws UsageError where that fails.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
};

}  // namespace gemm64

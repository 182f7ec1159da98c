// SPDX-License-Identifier: Apache-2.0
// A file that is read, with nothing believed that it says about its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gemm64 {

/// Read from front to end. "-" is standard input. Every failure is a UsageError that names the
/// file.
class InputFile {
 public:
  /// Throws if the file does not exist, is a folder, or cannot be read.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// As messages name it.
  const std::string& name() const { return name_; }
  /// Bytes from here to the end; nothing where that is not known, as of a pipe.
  std::optional<std::uint64_t> left() const;

  /// Reads at most `bytes` and returns how many there were.
  std::size_t read_some(void* to, std::size_t bytes);
  /// At most `most` bytes from here on; memory grows with what was really read.
  std::string read_up_to(std::uint64_t most);
  /// All that is left. Throws if it is more than `most` bytes.
  std::string read_rest(std::uint64_t most);

 private:
  std::string name_;
  int file_;
  std::optional<std::uint64_t> left_;
};

/// The whole file. Throws UsageError as InputFile does.
std::string read_file(const std::string& path, std::uint64_t most);

}  // namespace gemm64

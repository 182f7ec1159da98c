// SPDX-License-Identifier: Apache-2.0
// The idx files of MNIST and its kin: arrays of bytes, plain or compressed by gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace gemm64 {

/// Is the file, by its first bytes, an idx file or something compressed by gzip?
bool is_idx_file(const std::filesystem::path& path);

/// A file whose header was read. Every failure is a UsageError that names the file.
class IdxFile {
 public:
  /// `remedy` ends every message. Throws if the file cannot be read, is cut off or damaged, or
  /// is no array of unsigned bytes with `rank` dimensions (of which the first counts items).
  IdxFile(const std::filesystem::path& path, std::size_t rank, std::string remedy = "");
  ~IdxFile();

  const std::vector<std::uint32_t>& dims() const { return dims_; }
  [[noreturn]] void fail(const std::string& what) const;

  /// The first `items` items. To be called once. The file is read to its end, so that damage
  /// anywhere in it is found; memory grows with what was really read. Throws also if more than
  /// 1 GiB would be kept.
  std::vector<std::uint8_t> read(std::size_t items);

 private:
  class Stream;
  std::uint32_t read_number();

  std::string path_, remedy_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::uint32_t> dims_;
};

}  // namespace gemm64

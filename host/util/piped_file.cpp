// SPDX-License-Identifier: Apache-2.0
#include "host/util/piped_file.hpp"

#include <filesystem>
#include <map>
#include <mutex>

#include "host/util/error.hpp"
#include "host/util/input_file.hpp"

namespace gemm64 {

std::shared_ptr<const std::string> piped_contents(const std::string& path, std::uint64_t most) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool is_input = path == "-";
  const fs::file_status status = fs::status(is_input ? "/dev/stdin" : path, error);
  if (!is_input && !fs::is_fifo(status)) return nullptr;
  if (!fs::is_fifo(status) && !fs::is_regular_file(status) && !fs::is_socket(status)) {
    throw UsageError("standard input: is neither a file nor a pipe");
  }
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const std::string>> kept;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const std::string>& contents = kept[path];
  if (contents == nullptr) contents = std::make_shared<const std::string>(read_file(path, most));
  return contents;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/util/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kStep = std::uint64_t{1} << 20;  // read at a time where the end is unknown

}  // namespace

InputFile::InputFile(const std::string& path)
    : name_(path == "-" ? "standard input" : path), file_(-1) {
  file_ = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  struct stat found {};
  if (file_ < 0 || fstat(file_, &found) != 0) {
    const int error = errno;
    if (file_ >= 0) close(file_);
    throw UsageError(fmt::format("{}: cannot be read: {}", name_, std::strerror(error)));
  }
  if (S_ISDIR(found.st_mode)) {
    close(file_);
    throw UsageError(fmt::format("{}: cannot be read: it is a folder", name_));
  }
  if (S_ISREG(found.st_mode)) {
    const off_t at = std::max<off_t>(lseek(file_, 0, SEEK_CUR), 0);
    left_ = static_cast<std::uint64_t>(std::max<off_t>(found.st_size - at, 0));
  }
}

InputFile::~InputFile() { close(file_); }

std::optional<std::uint64_t> InputFile::left() const { return left_; }

std::size_t InputFile::read_some(void* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(file_, static_cast<char*>(to) + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw UsageError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  if (left_) *left_ -= std::min<std::uint64_t>(*left_, done);
  return done;
}

std::string InputFile::read_up_to(std::uint64_t most) {
  std::string contents;
  while (contents.size() < most) {
    const std::size_t at = contents.size();
    const std::uint64_t step = std::max(kStep, left_.value_or(0));
    const auto wanted = static_cast<std::size_t>(std::min(most - at, step));
    contents.resize(at + wanted);
    const std::size_t got = read_some(contents.data() + at, wanted);
    contents.resize(at + got);
    if (got < wanted) break;
  }
  return contents;
}

std::string InputFile::read_rest(std::uint64_t most) {
  const auto too_large = [this, most] {
    return UsageError(
        fmt::format("{}: has more than {} bytes, the limit for such a file", name_, most));
  };
  if (left_.value_or(0) > most) throw too_large();
  std::string contents = read_up_to(most + 1);
  if (contents.size() > most) throw too_large();
  return contents;
}

std::string read_file(const std::string& path, std::uint64_t most) {
  return InputFile(path).read_rest(most);
}

}  // namespace gemm64

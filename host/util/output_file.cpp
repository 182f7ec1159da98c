// SPDX-License-Identifier: Apache-2.0
#include "host/util/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "host/util/console.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the kernel has it

UsageError cannot_write(const fs::path& path, const std::string& reason) {
  return UsageError(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

/// Copies a file's contents; returns 0, or errno where a byte was lost.
int copy_contents(const fs::path& from, int to) {
  const Descriptor file{open(from.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) return errno;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t got = read(file.number, buffer.data(), buffer.size());
    if (got == 0) return 0;
    if (got < 0) return errno;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR) return errno;
      if (put > 0) done += put;
    }
  }
}

}  // namespace

fs::path followed(const fs::path& path) {
  fs::path at = path;
  std::error_code error;
  for (int links = 0; links < kMaxLinks && fs::is_symlink(at, error); ++links) {
    const fs::path next = fs::read_symlink(at, error);
    if (error) break;
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at;
}

std::optional<int> descriptor_named(const fs::path& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const fs::path folder = path.parent_path();
  if (folder != "/dev/fd" && folder != "/proc/self/fd") return std::nullopt;
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

OutputFile::OutputFile(fs::path path, std::string what)
    : path_(std::move(path)), what_(std::move(what)) {
  find_target();
  create_temporary();
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (until_committed_) fs::remove(temporary_, ignored);
}

void OutputFile::find_target() {
  if (path_.empty()) throw UsageError("an output's name is empty: it cannot be written");
  descriptor_ = descriptor_named(path_);
  if (descriptor_) {
    regular_ = false;
    if (fcntl(*descriptor_, F_GETFD) == -1) throw cannot_write(path_, std::strerror(errno));
    if (descriptor_ == STDOUT_FILENO) give_standard_output_away();
    return;
  }
  target_ = followed(path_);
  struct stat found {};
  if (stat(target_.c_str(), &found) != 0) {
    if (errno != ENOENT) throw cannot_write(path_, std::strerror(errno));
    if (target_.filename().empty()) throw cannot_write(path_, "it names a folder, not a file");
    return;
  }
  if (S_ISDIR(found.st_mode)) throw cannot_write(path_, "it names a folder, not a file");
  if (S_ISBLK(found.st_mode)) throw cannot_write(path_, "it is a disk, not a file");
  if (S_ISSOCK(found.st_mode)) throw cannot_write(path_, "it is a socket, not a file");
  if (access(target_.c_str(), W_OK) != 0) throw cannot_write(path_, std::strerror(errno));
  regular_ = S_ISREG(found.st_mode);
  mode_ = found.st_mode & 07777U;
}

void OutputFile::create_temporary() {
  static std::atomic<unsigned> count{0};
  std::error_code none;
  const fs::path folder = regular_ ? target_.parent_path() : fs::temp_directory_path(none);
  int error = EEXIST;
  while (error == EEXIST) {
    // Short, so that a long name does not make one that is too long.
    temporary_ = folder / fmt::format(".gemm64-{}-{}.part", getpid(), count++);
    // Known before it exists: a signal in between would leave it.
    until_committed_.emplace(temporary_);
    const Descriptor file{open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    error = errno;
    if (file.number >= 0) return;
    until_committed_.reset();
  }
  throw cannot_write(path_, error == ENOENT    ? "its folder does not exist"
                            : error == ENOTDIR ? "its folder is a file"
                            : error == EACCES  ? "its folder is not writable"
                                               : std::strerror(error));
}

std::ostream& OutputFile::stream() {
  if (!stream_.is_open()) {
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
    if (!stream_) stream_.setstate(std::ios::badbit);
  }
  return stream_;
}

void OutputFile::write(const std::string& contents) {
  errno = 0;
  stream().write(contents.data(), static_cast<std::streamsize>(contents.size()));
  if (!stream_) lose(errno);
  commit();
}

void OutputFile::commit() {
  if (stream_.is_open() || !stream_) {
    errno = 0;
    stream_.flush();
    const bool whole = stream_.good();
    if (stream_.is_open()) stream_.close();
    if (!whole || !stream_) lose(errno);
  }
  if (regular_) {
    move_to_target();
  } else {
    copy_to_target();
  }
}

void OutputFile::move_to_target() {
  // The mode first: under its name the file is never open to more people than before.
  if (mode_ && chmod(temporary_.c_str(), *mode_) != 0) lose(errno);
  struct stat before {};
  if (stat(target_.c_str(), &before) == 0 && before.st_uid != geteuid()) {
    // Only root may do so; for others the file is theirs now.
    const int ignored = chown(temporary_.c_str(), before.st_uid, before.st_gid);
    static_cast<void>(ignored);
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) lose(errno);
  until_committed_.reset();
}

void OutputFile::copy_to_target() {
  const int to =
      descriptor_ ? dup(*descriptor_) : open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (to < 0) lose(errno);
  const int error = copy_contents(temporary_, to);
  if (close(to) != 0 && error == 0) lose(errno);
  if (error != 0) lose(error);
  unlink(temporary_.c_str());
  until_committed_.reset();
}

void OutputFile::lose(int error) const {
  const std::string name = path_ == "-" ? "standard output" : path_.string();
  throw OutputError(
      path_.string(),
      fmt::format("{}: {} is lost: {}", name, what_,
                  error != 0 ? std::strerror(error) : "no space is left, or the disk failed"));
}

}  // namespace gemm64

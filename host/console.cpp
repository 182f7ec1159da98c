// SPDX-License-Identifier: Apache-2.0
#include "host/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "host/escaped.hpp"

namespace gemm64 {
namespace {

std::atomic<bool> given_away{false};
std::atomic<int> lost{0};  // errno of the first write that failed

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void remember_loss() {
  int none = 0;
  lost.compare_exchange_strong(none, errno == 0 ? EIO : errno);
}

}  // namespace

void secure_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number, which is this one. Reading it ends at once, writing fails.
    if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) std::abort();
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void print_report(std::string_view raw) {
  std::string text;
  try {
    text = escaped_lines(raw);
  } catch (...) {  // no memory is left for it
    errno = ENOMEM;
    remember_loss();
    return;
  }
  if (given_away) {
    write_all(STDERR_FILENO, text);
    return;
  }
  if (lost != 0) return;
  std::fflush(stdout);
  if (!write_all(STDOUT_FILENO, text)) remember_loss();
}

void give_standard_output_away() { given_away = true; }

std::optional<std::string> report_loss() {
  errno = 0;
  if (!given_away && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) remember_loss();
  const int error = lost;
  if (error == 0) return std::nullopt;
  if (error == EPIPE) return "";
  const char* const reason = error == EBADF ? "it is closed" : std::strerror(error);
  return fmt::format("standard output: some or all of the report is lost: {}", reason);
}

void print_error_lines(std::string_view message) noexcept {
  const std::size_t end = std::min(message.find('\n'), message.size());
  print_error(message.substr(0, end));
  for (std::string_view rest = message.substr(end); !rest.empty();) {
    rest.remove_prefix(1);
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    try {
      write_all(STDERR_FILENO, escaped(rest.substr(0, length)) + "\n");
    } catch (...) {  // no memory is left for the line
    }
    rest.remove_prefix(length);
  }
}

void print_error(std::string_view message) noexcept {
  try {
    std::fflush(stdout);
    write_all(STDERR_FILENO, fmt::format("gemm64: {}\n", escaped(message)));
  } catch (...) {  // no memory is left for the message
    write_all(STDERR_FILENO, "gemm64: failed\n");
  }
}

}  // namespace gemm64

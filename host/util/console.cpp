// SPDX-License-Identifier: Apache-2.0
#include "host/util/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/util/columns.hpp"
#include "host/util/escaped.hpp"

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

/// https://no-color.org
bool has_color(int file) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  return isatty(file) != 0 && (none == nullptr || *none == '\0') && kind != nullptr &&
         std::string_view(kind) != "dumb";
}

/// The line with the color of the first of these words in it.
std::string colored(std::string line) {
  constexpr const char *kGood = "\x1b[1;32m", *kBad = "\x1b[1;31m", *kOdd = "\x1b[1;33m";
  constexpr std::pair<std::string_view, const char*> kWords[] = {
      {"NOT VERIFIED", kBad}, {"VERIFIED", kGood},   {"FAILED", kBad},
      {"MISMATCH", kBad},     {"NOT CHECKED", kOdd}, {"Warning:", kOdd}};
  for (const auto& [word, color] : kWords) {
    const std::size_t at = line.find(word);
    if (at == std::string::npos) continue;
    return line.insert(at + word.size(), "\x1b[0m").insert(at, color);
  }
  return line;
}

/// Prose in lines of at most `width` columns; 0: no limit. Rows of tables, which have two spaces
/// between columns, stay as they are.
std::string fitted(std::string_view text, std::size_t width, bool color) {
  if (width == 0 && !color) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool prose = width != 0 && line.find("  ") == std::string_view::npos;
    std::string begin;
    for (const std::string& part : wrapped(line, prose ? width : line.size())) {
      result += begin + (color ? colored(part) : part);
      begin = "\n";
    }
    if (end != std::string_view::npos) result += '\n';
  }
  return result;
}

void print(std::string_view raw, std::size_t width, bool color) {
  std::string text;
  try {
    text = fitted(escaped_lines(raw), width, color);
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

std::size_t terminal_width(int file) {
  winsize size{};
  if (isatty(file) == 0 || ioctl(file, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

void print_report(std::string_view text) {
  const int file = given_away ? STDERR_FILENO : STDOUT_FILENO;
  print(text, terminal_width(file), has_color(file));
}

void print_exactly(std::string_view text) { print(text, 0, false); }

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
    const std::string line = fmt::format("gemm64: {}\n", escaped(message));
    write_all(STDERR_FILENO, fitted(line, terminal_width(STDERR_FILENO), false));
  } catch (...) {  // no memory is left for the message
    write_all(STDERR_FILENO, "gemm64: failed\n");
  }
}

}  // namespace gemm64

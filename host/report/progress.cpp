// SPDX-License-Identifier: Apache-2.0
#include "host/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gemm64 {
namespace {

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr double kFirstEstimate = 0.02;  // of the whole: before it an estimate would jump

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

ProgressBar::ProgressBar()
    : terminal_(isatty(STDERR_FILENO) != 0), begin_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() { erase(); }

std::string ProgressBar::line(const std::string& name, double done, double seconds_spent) {
  constexpr int kWidth = 30;
  done = std::clamp(done, 0.0, 1.0);
  const int filled = static_cast<int>(std::floor(done * kWidth));
  std::string text = fmt::format("{}  [{}{}] {:3.0f} %", name, std::string(filled, '#'),
                                 std::string(kWidth - filled, '.'), 100 * done);
  if (done >= kFirstEstimate) {
    text += fmt::format("  {:.0f} s left", std::ceil(seconds_spent * (1 - done) / done));
  }
  return text;
}

void ProgressBar::show(const std::string& name, double done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - last_ < kBetweenDrawings) return;
  last_ = now;
  drawn_ = true;
  const std::chrono::duration<double> spent = now - begin_;
  fmt::print(stderr, "\r\x1b[K{}", line(name, done, spent.count()));
  std::fflush(stderr);
}

void ProgressBar::erase() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace gemm64

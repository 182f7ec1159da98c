// SPDX-License-Identifier: Apache-2.0
#include "host/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "host/escaped.hpp"
#include "host/interrupt.hpp"

namespace gemm64 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr std::chrono::milliseconds kBetweenLines{10000};
constexpr std::chrono::milliseconds kBetweenNotes{100};
constexpr double kFirstEstimate = 0.02;  // of the whole: before it an estimate would jump
constexpr const char* kErase = "\r\x1b[K";

/// What is lost of progress is no loss.
void say(int file, const std::string& text) {
  const ssize_t ignored = write(file, text.data(), text.size());
  static_cast<void>(ignored);
}

std::string left_text(const char* before, std::optional<double> left) {
  return left ? fmt::format("{}{:.0f} s left", before, std::ceil(*left)) : "";
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

void Remaining::note(double done, double seconds) {
  done_ = std::clamp(done, 0.0, 1.0);
  if (begun_ && done_ > first_) return;
  begun_ = true;
  first_ = done_;
  begin_ = seconds;
}

std::optional<double> Remaining::left(double seconds) const {
  if (done_ < kFirstEstimate || done_ <= first_) return std::nullopt;
  return (seconds - begin_) * (1 - done_) / (done_ - first_);
}

ProgressBar::ProgressBar()
    : ProgressBar(STDERR_FILENO, isatty(STDERR_FILENO) != 0,
                  isatty(STDERR_FILENO) != 0 ? kBetweenDrawings : kBetweenLines) {}

ProgressBar::ProgressBar(int file, bool terminal, std::chrono::milliseconds between)
    : file_(file), terminal_(terminal), between_(between), begin_(Clock::now()) {
  try {
    ticker_ = std::thread([this] { tick(); });
  } catch (const std::system_error&) {
    // No thread is to be had. On a terminal show() draws all the same.
  }
}

ProgressBar::~ProgressBar() {
  erase();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  if (ticker_.joinable()) ticker_.join();
}

std::string ProgressBar::line(const std::string& name, double done, std::optional<double> left) {
  constexpr int kWidth = 30;
  done = std::clamp(done, 0.0, 1.0);
  const int filled = static_cast<int>(std::floor(done * kWidth));
  return fmt::format("{}  [{}{}] {:3.0f} %{}", name, std::string(filled, '#'),
                     std::string(kWidth - filled, '.'), std::floor(100 * done),
                     left_text("  ", left));
}

std::string ProgressBar::plain_line(const std::string& name, double done, double seconds_spent,
                                    std::optional<double> left) {
  done = std::clamp(done, 0.0, 1.0);
  return fmt::format("{}: {:.0f} %, {:.0f} s{}", name, std::floor(100 * done), seconds_spent,
                     left_text(", ", left));
}

double ProgressBar::seconds_spent() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void ProgressBar::show(const std::string& name, double done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Clock::time_point now = Clock::now();
  const bool first = !active_;
  active_ = true;
  done_ = done;
  remaining_.note(done, seconds_spent());
  if (first || name != name_) name_ = name;
  if (first || now - last_ >= kBetweenNotes) {
    last_ = now;
    note_finished(fmt::format("in {}, {:.0f} % of the whole finished", name_,
                              std::floor(100 * std::clamp(done_, 0.0, 1.0))));
    if (terminal_) draw();
  }
}

void ProgressBar::erase() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (drawn_) say(file_, kErase);
  drawn_ = active_ = false;
}

void ProgressBar::tick() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, between_, [this] { return end_; })) {
    if (active_) draw();
  }
}

void ProgressBar::draw() {
  const double spent = seconds_spent();
  const std::optional<double> left = remaining_.left(spent);
  const std::string name = escaped(name_);
  if (terminal_) {
    say(file_, kErase + line(name, done_, left));
    drawn_ = true;
  } else {
    say(file_, "gemm64: " + plain_line(name, done_, spent, left) + "\n");
  }
}

}  // namespace gemm64

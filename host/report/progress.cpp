// SPDX-License-Identifier: Apache-2.0
#include "host/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "host/columns.hpp"
#include "host/escaped.hpp"
#include "host/interrupt.hpp"

namespace gemm64 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr std::chrono::milliseconds kBetweenLines{10000};
constexpr std::chrono::milliseconds kBetweenNotes{100};
constexpr double kFirstEstimate = 0.02;      // of the whole: before it an estimate would jump
constexpr std::size_t kUnknownColumns = 80;  // of a terminal that does not know its size
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

std::size_t terminal_width(int file) {
  winsize size{};
  if (isatty(file) == 0 || ioctl(file, TIOCGWINSZ, &size) != 0) return 0;
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

std::string ProgressBar::line(const std::string& name, double done, std::optional<double> left,
                              std::size_t columns) {
  constexpr std::size_t kGap = 2, kFrame = 2;  // spaces after the name; the bar's brackets
  constexpr std::size_t kMostBar = 30, kLeastBar = 10, kLeastName = 16;
  done = std::clamp(done, 0.0, 1.0);
  const std::string share = fmt::format(" {:3.0f} %", std::floor(100 * done));
  std::string end = share + left_text("  ", left);
  if (end.size() > columns) end = cut_to_columns(share, columns);
  const std::size_t space = columns - end.size();
  const std::size_t named = columns_of(name);
  // The bar has the space that the name leaves, and a long name leaves the least.
  const std::size_t for_name = std::min(named, kLeastName) + kGap + kFrame;
  std::size_t bar = space < for_name ? 0 : std::min(space - for_name, kMostBar);
  if (named > kLeastName) {
    const std::size_t whole = named + kGap + kFrame;
    bar = std::min(bar, space < whole + kLeastBar ? kLeastBar : space - whole);
  }
  if (bar < kLeastBar) return cut_to_columns(name, space) + end;
  const auto filled = static_cast<std::size_t>(std::floor(done * static_cast<double>(bar)));
  return fmt::format("{}{}[{}{}]{}", cut_to_columns(name, space - bar - kGap - kFrame),
                     std::string(kGap, ' '), std::string(filled, '#'),
                     std::string(bar - filled, '.'), end);
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
    // The last column stays free, since some terminals begin another line when it is written.
    const std::size_t columns = terminal_width(file_);
    say(file_, kErase + line(name, done_, left, (columns == 0 ? kUnknownColumns : columns) - 1));
    drawn_ = true;
  } else {
    say(file_, "gemm64: " + plain_line(name, done_, spent, left) + "\n");
  }
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <system_error>
#include <vector>

#include "host/runtime/simulated_cycles.hpp"
#include "host/util/columns.hpp"
#include "host/util/console.hpp"
#include "host/util/escaped.hpp"
#include "host/util/interrupt.hpp"

namespace gemm64 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr std::chrono::milliseconds kBetweenNotes{100};
constexpr double kSampleSeconds = 0.5;       // at least, between samples of the speed
constexpr double kFirstEstimate = 0.02;      // of the whole: before it an estimate would jump
constexpr std::size_t kUnknownColumns = 80;  // of a terminal that does not know its size
constexpr const char* kErase = "\r\x1b[K";

/// What is lost of progress is no loss.
void say(int file, const std::string& text) {
  const ssize_t ignored = write(file, text.data(), text.size());
  static_cast<void>(ignored);
}

std::atomic<bool> lines_wanted{false};

/// "99 s", "12 min".
std::string duration_text(double seconds) {
  constexpr double kMostSeconds = 600, kMinute = 60;
  return seconds < kMostSeconds ? fmt::format("{:.0f} s", std::ceil(seconds))
                                : fmt::format("{:.0f} min", std::ceil(seconds / kMinute));
}

std::string left_text(const ProgressState& state) {
  return state.left ? duration_text(*state.left) + " left" : "";
}

std::string speed_text(const ProgressState& state) {
  if (state.cycles_per_second <= 0) return "";
  return state.cycles_per_second < 1e6
             ? fmt::format("{:.0f} k cycles/s", state.cycles_per_second / 1e3)
             : fmt::format("{:.1f} M cycles/s", state.cycles_per_second / 1e6);
}

/// Those that are not empty, with commas.
std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

}  // namespace

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
    : ProgressBar(STDERR_FILENO,
                  isatty(STDERR_FILENO) != 0 ? Form::kBar
                  : lines_wanted             ? Form::kLines
                                             : Form::kNone,
                  kBetweenDrawings) {}

ProgressBar::ProgressBar(int file, Form form, std::chrono::milliseconds between)
    : file_(file),
      form_(form),
      between_(between),
      begin_(Clock::now()),
      cycles_(simulated_cycles()) {
  if (form != Form::kBar) return;
  try {
    ticker_ = std::thread([this] { tick(); });
  } catch (const std::system_error&) {
    // No thread is to be had. show() draws all the same.
  }
}

void ProgressBar::print_lines() { lines_wanted = true; }

ProgressBar::~ProgressBar() {
  erase();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  if (ticker_.joinable()) ticker_.join();
}

std::string ProgressBar::line(const ProgressState& state, std::size_t columns) {
  constexpr std::size_t kGap = 2, kFrame = 2;  // spaces after the name; the bar's brackets
  constexpr std::size_t kMostBar = 30, kLeastBar = 10, kLeastName = 16;
  const double done = std::clamp(state.done, 0.0, 1.0);
  const std::size_t named = columns_of(state.name);
  const std::size_t for_name = std::min(named, kLeastName) + kGap;
  const std::string share = fmt::format(" {:3.0f} %", std::floor(100 * done));
  const auto with = [&share](const std::vector<std::string>& parts) {
    const std::string text = listed(parts);
    return text.empty() ? share : share + "  " + text;
  };
  const std::string left = left_text(state), spent = duration_text(state.seconds);
  std::string end = with({spent, left, speed_text(state)});
  if (end.size() + for_name > columns) end = with({spent, left});
  if (end.size() + for_name > columns) end = with({left});
  if (end.size() > columns) end = cut_to_columns(share, columns);
  const std::size_t space = columns - end.size();
  // The bar has the space that the name leaves, and a long name leaves the least.
  std::size_t bar = space < for_name + kFrame ? 0 : std::min(space - for_name - kFrame, kMostBar);
  if (named > kLeastName) {
    const std::size_t whole = named + kGap + kFrame;
    bar = std::min(bar, space < whole + kLeastBar ? kLeastBar : space - whole);
  }
  if (bar < kLeastBar) return cut_to_columns(state.name, space) + end;
  const auto filled = static_cast<std::size_t>(std::floor(done * static_cast<double>(bar)));
  return fmt::format("{}{}[{}{}]{}", cut_to_columns(state.name, space - bar - kGap - kFrame),
                     std::string(kGap, ' '), std::string(filled, '#'),
                     std::string(bar - filled, '.'), end);
}

std::string ProgressBar::plain_line(const ProgressState& state) {
  const std::string share =
      fmt::format("{:.0f} %", std::floor(100 * std::clamp(state.done, 0.0, 1.0)));
  return fmt::format(
      "{}: {}", state.name,
      listed({share, duration_text(state.seconds), left_text(state), speed_text(state)}));
}

ProgressState ProgressBar::state() {
  const double spent = seconds_spent();
  const std::uint64_t cycles = simulated_cycles();
  if (spent - sampled_ >= kSampleSeconds) {
    cycles_per_second_ = static_cast<double>(cycles - cycles_) / (spent - sampled_);
    sampled_ = spent;
    cycles_ = cycles;
  }
  return {escaped(name_), done_, spent, remaining_.left(spent), cycles_per_second_};
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
    if (form_ == Form::kBar) draw();
  }
  if (form_ != Form::kLines) return;
  const auto tenths = static_cast<int>(10 * std::clamp(done, 0.0, 1.0));
  if (tenths > tenths_) {
    constexpr int kTenPercent = 10;
    ProgressState tenth = state();
    tenth.done = static_cast<double>(tenths) / kTenPercent;
    say(file_, "gemm64: " + plain_line(tenth) + "\n");
  }
  tenths_ = tenths;
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
  // The last column stays free, since some terminals begin another line when it is written.
  const std::size_t columns = terminal_width(file_);
  say(file_, kErase + line(state(), (columns == 0 ? kUnknownColumns : columns) - 1));
  drawn_ = true;
}

}  // namespace gemm64

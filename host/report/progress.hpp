// SPDX-License-Identifier: Apache-2.0
// How far the work is: a bar on a terminal; elsewhere lines, if they are asked for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace gemm64 {

/// Estimates what remains of work that goes on evenly. Time before its first part is in progress,
/// such as that of reading a network, is not the work's.
class Remaining {
 public:
  /// `done` of the whole (0 to 1) is finished after `seconds`.
  void note(double done, double seconds);
  /// Seconds that the rest takes, after `seconds`; empty while there is too little to tell from.
  std::optional<double> left(double seconds) const;

 private:
  bool begun_ = false;
  double first_ = 0, done_ = 0;  // of the whole
  double begin_ = 0;             // seconds after which more than `first_` was in progress
};

/// What a display of progress shows.
struct ProgressState {
  std::string name;              // of the layer, or of the work
  double done = 0;               // of the whole, 0 to 1
  double seconds = 0;            // elapsed
  std::optional<double> left;    // seconds
  double cycles_per_second = 0;  // simulated; 0: none
};

/// On a terminal, a bar that is drawn again while no progress is reported. Elsewhere nothing or,
/// once print_lines() was called, a line per 10 % of the work. Also what an interruption reports as
/// finished.
class ProgressBar {
 public:
  enum class Form { kBar, kLines, kNone };

  ProgressBar();
  /// For tests: `file` and not standard error, in that form.
  ProgressBar(int file, Form form, std::chrono::milliseconds between);
  /// Erases the bar.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// From now on, bars that are made print lines if standard error is no terminal.
  static void print_lines();

  /// `done` of the whole (0 to 1) is finished, `name` is in progress. Cheap enough for inner loops.
  void show(const std::string& name, double done);
  /// Ends the bar until show() is called again: to be called before a report is printed.
  void erase();

  /// Returns the line for a bar, "classifier.1  [#####.....]  50 %  3 s, 3 s left, 1.2 M cycles/s",
  /// in at most `columns`. Where they are few, the bar is shortened; then the speed, the time
  /// elapsed and the bar are left out, and the name is cut.
  static std::string line(const ProgressState& state, std::size_t columns);
  /// Returns the line off a terminal: "classifier.1: 50 %, 12 s, 12 s left, 1.2 M cycles/s".
  static std::string plain_line(const ProgressState& state);

 private:
  void tick();
  void draw();
  ProgressState state();
  double seconds_spent() const;

  const int file_;
  const Form form_;
  const std::chrono::milliseconds between_;
  const std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool active_ = false;  // between show() and erase()
  bool drawn_ = false;   // there is a bar to erase
  bool end_ = false;
  std::string name_;
  double done_ = 0;
  int tenths_ = 0;  // of the work, that have their line
  Remaining remaining_;
  // Of the speed: the cycles at a moment, and since the one before.
  double sampled_ = 0, cycles_per_second_ = 0;
  std::uint64_t cycles_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::thread ticker_;
};

}  // namespace gemm64

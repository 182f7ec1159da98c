// SPDX-License-Identifier: Apache-2.0
// How far the work is: a bar on a terminal, else a line now and then.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace gemm64 {

/// Returns the columns of the terminal that an open file is, standard output by default; 0 where it
/// is none.
std::size_t terminal_width(int file = STDOUT_FILENO);

/// Estimates what remains of work that goes on evenly. Time before its first part is under way,
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
  double begin_ = 0;             // seconds after which more than `first_` was under way
};

/// Where standard error is a terminal, a bar, which is drawn again while nobody calls; else a line
/// every ten seconds. Also what an interruption says to be finished.
class ProgressBar {
 public:
  ProgressBar();
  /// For tests: `file` and not standard error, as if it were a terminal or not.
  ProgressBar(int file, bool terminal, std::chrono::milliseconds between);
  /// Erases the bar.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of the whole (0 to 1) is finished, `name` is under way. Cheap enough for inner loops.
  void show(const std::string& name, double done);
  /// Ends the bar until show() is called again: to be called before a report is printed.
  void erase();

  /// Returns the line for a bar, "classifier.1  [#####.....]  50 %  3 s left", in at most
  /// `columns`. Where they are few, the bar is shortened, then the name is cut, then the bar is
  /// left out.
  static std::string line(const std::string& name, double done, std::optional<double> left,
                          std::size_t columns);
  /// The line off a terminal: "classifier.1: 50 %, 12 s, 12 s left".
  static std::string plain_line(const std::string& name, double done, double seconds_spent,
                                std::optional<double> left);

 private:
  void tick();
  void draw();
  double seconds_spent() const;

  const int file_;
  const bool terminal_;
  const std::chrono::milliseconds between_;
  const std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool active_ = false;  // between show() and erase()
  bool drawn_ = false;   // there is a bar to erase
  bool end_ = false;
  std::string name_;
  double done_ = 0;
  Remaining remaining_;
  std::chrono::steady_clock::time_point last_;
  std::thread ticker_;
};

}  // namespace gemm64

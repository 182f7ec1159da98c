// SPDX-License-Identifier: Apache-2.0
// A progress bar with an estimate, on a terminal only.
#pragma once

#include <chrono>
#include <string>

namespace gemm64 {

/// Columns of the terminal that standard output is; 0 where it is none.
std::size_t terminal_width();

/// Draws on standard error where that is a terminal, else does nothing. Erases itself at the end.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of the whole (0 to 1) is finished, `name` is under way.
  void show(const std::string& name, double done);
  void erase();

  /// The line for a bar: "classifier.1  [#####.....]  50 %  3 s left".
  static std::string line(const std::string& name, double done, double seconds_spent);

 private:
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// An end from outside: Ctrl-C, SIGTERM, SIGHUP, or a library that gives up.
#pragma once

#include <filesystem>
#include <string_view>

namespace gemm64 {

/// From now on these signals end the program at once, wherever it is: temporary files are removed,
/// a line on standard error says what was finished, and the exit code is 128 + the signal's number
/// (130 of Ctrl-C, 143 of SIGTERM). Loops have nothing to poll. Signals that the caller has set to
/// be ignored stay so.
///
/// Where a library calls exit() (libgomp does, if it cannot start a thread), temporary files are
/// removed too, and the exit code is 2.
void catch_interrupts();

/// The program is about to end by itself: exit() is no library's any more.
void end_is_wanted();

/// What that line says: "in classifier.4, 45 % of the whole finished".
void note_finished(std::string_view text);
/// The same for a program that is ending: calls after this one, of any thread, change nothing.
void note_finished_last(std::string_view text);

/// A file that must not outlive the program: removed by a signal that ends it, as long as this
/// lives. Making and removing it otherwise is the owner's.
class TemporaryName {
 public:
  explicit TemporaryName(const std::filesystem::path& path);
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

 private:
  int slot_;
};

}  // namespace gemm64

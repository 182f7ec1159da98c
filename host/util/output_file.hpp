// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "host/util/interrupt.hpp"

namespace gemm64 {

/// Opened before long work, so that a place that cannot be written is found at once; written next
/// to its name and moved there at the end, with the mode that the file before it had. Links are
/// followed. Without commit(), and where a signal ends the program, nothing is left, and the file
/// before stays as it was.
///
/// What is no regular file (/dev/null, a FIFO, /dev/stdout) is never replaced: its contents are
/// collected in the folder for temporary files and written to it by commit(). "-" is standard
/// output, which from then on belongs to this file: reports go to standard error.
class OutputFile {
 public:
  /// `what` names it where it is lost: "the report". Throws UsageError if `path` cannot be
  /// written.
  explicit OutputFile(std::filesystem::path path, std::string what = "what was to go there");
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// As it was asked for.
  const std::filesystem::path& path() const { return path_; }
  /// Where the contents go until commit(); may be replaced by another file of that name.
  const std::filesystem::path& temporary() const { return temporary_; }

  /// A stream to the temporary file. commit() closes and checks it.
  std::ostream& stream();
  /// Writes `contents` to the stream and commits.
  void write(const std::string& contents);
  /// Lets the file appear. Throws OutputError if any of it could not be written.
  void commit();

 private:
  void find_target();
  void create_temporary();
  void move_to_target();
  void copy_to_target();
  [[noreturn]] void lose(int error) const;

  std::filesystem::path path_;
  std::string what_;
  std::filesystem::path target_;   // path_ with its links followed; empty for a descriptor
  bool regular_ = true;            // what is, or will be, at target_
  std::optional<int> descriptor_;  // what path_ names instead, such as 1
  std::optional<mode_t> mode_;     // of the file before
  std::filesystem::path temporary_;
  std::optional<TemporaryName> until_committed_;
  std::ofstream stream_;
};

/// `path` with symbolic links followed, though what they lead to may not exist.
std::filesystem::path followed(const std::filesystem::path& path);

/// The number that /dev/stdout, /dev/stderr, /dev/fd/N or /proc/self/fd/N stand for, and 1 for "-".
std::optional<int> descriptor_named(const std::filesystem::path& path);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The finished rows of a sweep that is in progress, on disk, so that another run can go on from
// them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/sweep/row.hpp"

namespace gemm64 {

/// What rows depend on: a name for messages ("the program") and its fingerprint.
using Provenance = std::vector<std::pair<std::string, std::string>>;

/// The fingerprints of the program, of the sweep's text (from `file`), and of the ONNX files that
/// it names. Throws UsageError if one cannot be read.
Provenance provenance_of(const Sweep& sweep, const std::string& file, const std::string& text);

/// A file of lines: the provenance, then a row each, which is there whole or counts as not there.
class Journal {
 public:
  /// Where it is: next to an output, which must be a regular file or not be there yet. Empty where
  /// the output is neither.
  static std::filesystem::path path_beside(const std::string& output);

  /// Begins one or, with `resume`, goes on with one, if it is there. Throws UsageError if it is
  /// there and is not to be resumed, belongs to a changed sweep or program, is in use by another
  /// process, or cannot be written.
  Journal(std::filesystem::path path, const Provenance& provenance, bool resume);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Did it go on with one?
  bool resumed() const { return resumed_; }
  /// The rows that it had, by point.
  const std::map<std::size_t, SweepRow>& rows() const { return rows_; }

  /// Adds a finished row. Throws OutputError if it cannot be written.
  void add(const SweepRow& row);
  /// All outputs are written: the file goes.
  void remove();

 private:
  void lock();
  void read(const Provenance& provenance);
  void write_line(const std::string& line);

  const std::filesystem::path path_;
  int file_ = -1;
  bool resumed_ = false;
  bool empty_ = true;  // nothing but the provenance: not worth keeping
  std::map<std::size_t, SweepRow> rows_;
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Tables whose columns line up in a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gemm64 {

enum class Align { kLeft, kRight };

/// Rows of text below headings. Headings may stand on several lines ("\n").
class Table {
 public:
  void add_column(const std::string& heading, Align align = Align::kRight);
  /// As many cells as there are columns, else std::invalid_argument.
  void add_row(std::vector<std::string> cells);
  /// A line between the rows before and after.
  void add_rule();

  /// Cuts the first column, whose cells keep their ends, so that one part of `width` characters
  /// holds the table, or as nearly as 12 characters of it allow.
  void fit_first_column(std::size_t width);

  /// The table, at most `width` characters wide where columns allow: what does not fit next to the
  /// first column follows below in further parts, each with the first column again. 0: no limit.
  std::string render(std::size_t width = 0) const;

 private:
  struct Column {
    std::vector<std::string> heading;
    Align align;
    std::size_t width;
  };
  std::string render_part(const std::vector<std::size_t>& columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty one is a rule
};

}  // namespace gemm64

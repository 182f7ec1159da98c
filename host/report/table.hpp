// SPDX-License-Identifier: Apache-2.0
// Tables whose columns line up in a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gemm64 {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
/// A fraction as "97.35 %"; "100.00 %" only where it is 1.
std::string percent(double fraction);
/// A part of a whole as "98.4 % (63 of 64)". Never rounded to all or to nothing: "99.9 % (9,999 of
/// 10,000)". Of nothing "0 of 0".
std::string share(std::uint64_t count, std::uint64_t of);
/// Bytes in MiB with three digits after the point, or in KiB or bytes where few: "37.000 MiB".
std::string bytes(std::uint64_t count);

enum class Align { kLeft, kRight };

/// Rows of text below headings. Headings may stand on several lines ("\n").
class Table {
 public:
  void add_column(std::string heading, Align align = Align::kRight);
  /// As many cells as there are columns, else std::invalid_argument.
  void add_row(std::vector<std::string> cells);
  /// A line between the rows before and after.
  void add_rule();

  /// The table, at most `width` characters wide where columns allow: what does not fit beside the
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

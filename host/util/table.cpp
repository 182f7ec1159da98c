// SPDX-License-Identifier: Apache-2.0
#include "host/util/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "host/util/columns.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kGap = 2;  // between columns

std::string pad(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - columns_of(text), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::add_column(const std::string& heading, Align align) {
  Column column{{}, align, 0};
  std::istringstream lines(heading);
  for (std::string line; std::getline(lines, line);) {
    column.width = std::max(column.width, columns_of(line));
    column.heading.push_back(line);
  }
  columns_.push_back(std::move(column));
}

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size()) {
    throw std::invalid_argument(
        fmt::format("a row of {} cells in a table of {} columns", cells.size(), columns_.size()));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns_[i].width = std::max(columns_[i].width, columns_of(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

void Table::add_rule() { rows_.emplace_back(); }

std::string Table::render_part(const std::vector<std::size_t>& columns) const {
  std::size_t heading_lines = 0;
  std::size_t width = 0;
  for (const std::size_t c : columns) {
    heading_lines = std::max(heading_lines, columns_[c].heading.size());
    width += columns_[c].width + (width == 0 ? 0 : kGap);
  }
  const auto line = [&](const auto& cell) {
    std::string text;
    for (const std::size_t c : columns) {
      if (!text.empty()) text += std::string(kGap, ' ');
      text += pad(cell(c), columns_[c].width, columns_[c].align);
    }
    return without_trailing_space(text) + "\n";
  };
  const std::string rule = std::string(width, '-') + "\n";

  std::string part;
  for (std::size_t i = 0; i < heading_lines; ++i) {
    part += line([&](std::size_t c) {
      const auto& heading = columns_[c].heading;  // stands on the lowest lines
      const std::size_t above = heading_lines - heading.size();
      return i < above ? std::string() : heading[i - above];
    });
  }
  part += rule;
  for (const auto& row : rows_) {
    part += row.empty() ? rule : line([&](std::size_t c) { return row[c]; });
  }
  return part;
}

void Table::fit_first_column(std::size_t width) {
  constexpr std::size_t kLeast = 12;
  std::size_t all = 0;
  for (const Column& column : columns_) all += column.width + (all == 0 ? 0 : kGap);
  if (all <= width) return;
  Column& first = columns_.front();
  const std::size_t over = all - width;
  const std::size_t most = first.width > over + kLeast ? first.width - over : kLeast;
  first.width = std::min(first.width, most);
  for (auto& row : rows_) {
    if (!row.empty()) row.front() = end_in_columns(row.front(), first.width);
  }
}

std::string Table::render(std::size_t width) const {
  std::string text;
  for (std::size_t next = 1; next < columns_.size() || text.empty();) {
    std::vector<std::size_t> columns{0};
    std::size_t used = columns_[0].width;
    while (next < columns_.size()) {
      const std::size_t wanted = used + kGap + columns_[next].width;
      if (width != 0 && wanted > width && columns.size() > 1) break;
      columns.push_back(next++);
      used = wanted;
    }
    if (!text.empty()) text += "\n";
    text += render_part(columns);
  }
  return text;
}

}  // namespace gemm64

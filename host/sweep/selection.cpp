// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

struct Condition {
  std::string column, comparison, value;
};

Condition parse(const std::string& text) {
  for (const char* comparison : {"!=", "<=", ">=", "=", "<", ">"}) {
    const std::size_t at = text.find(comparison);
    // "a<=3" has "=" too: the comparison starts at the first of these characters.
    if (at == 0 || at == std::string::npos || text.find_first_of("!<>=") != at) continue;
    std::string value = text.substr(at + std::string(comparison).size());
    if (value.empty()) break;
    return {text.substr(0, at), comparison, std::move(value)};
  }
  throw UsageError(fmt::format(
      "--where: '{}' is no condition; use COLUMN=VALUE, or one of != < <= > >= in place of =",
      text));
}

bool compares(double difference, const std::string& comparison) {
  if (comparison == "=") return difference == 0;
  if (comparison == "!=") return difference != 0;
  if (comparison == "<") return difference < 0;
  if (comparison == "<=") return difference <= 0;
  return comparison == ">" ? difference > 0 : difference >= 0;
}

bool meets(const SweepRow& row, const Condition& condition) {
  const nlohmann::ordered_json& value = row.at(condition.column);
  if (value.is_null()) return false;
  if (value.is_number()) {
    char* end = nullptr;
    const double number = std::strtod(condition.value.c_str(), &end);
    if (*end != '\0') {
      throw UsageError(fmt::format("--where: column {} has numbers, and '{}' is none",
                                   condition.column, condition.value));
    }
    return compares(value.get<double>() - number, condition.comparison);
  }
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return compares(text.compare(condition.value), condition.comparison);
}

}  // namespace

bool larger_is_better(const std::string& column) {
  return column == "utilization" || column == "roofline_utilization" || column == "device_share" ||
         column == "pareto" || column == "verified";
}

void check_column(const std::vector<SweepRow>& rows, const std::string& option,
                  const std::string& column) {
  if (rows.empty() || rows.front().contains(column)) return;
  std::vector<std::string> names;
  for (const auto& [name, value] : rows.front().items()) names.push_back(name);
  throw UsageError(fmt::format("{}: no column is called '{}'; use one of {}", option, column,
                               fmt::join(names, ", ")));
}

std::vector<SweepRow> selected(std::vector<SweepRow> rows, const RowSelection& selection) {
  for (const std::string& text : selection.where) {
    const Condition condition = parse(text);
    check_column(rows, "--where", condition.column);
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const SweepRow& row) { return !meets(row, condition); }),
               rows.end());
  }
  const std::string& column = selection.sort_by;
  if (!column.empty()) {
    check_column(rows, "--sort-by", column);
    const bool descending = larger_is_better(column);
    std::stable_sort(rows.begin(), rows.end(), [&](const SweepRow& one, const SweepRow& other) {
      const auto &a = one.at(column), &b = other.at(column);
      if (a.is_null() || b.is_null()) return !a.is_null() && b.is_null();
      return descending ? b < a : a < b;
    });
  }
  if (selection.reverse) std::reverse(rows.begin(), rows.end());
  if (selection.top != 0) rows.resize(std::min(rows.size(), selection.top));
  return rows;
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/front.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace gemm64 {
namespace {

/// Clocks, and what is spent on them: less is better of each.
using Costs = std::array<double, 7>;

Costs costs_of(const SweepRow& row) {
  const auto number = [&row](const char* key) { return row.at(key).get<double>(); };
  const double array = number("array");
  const double bytes = number("memory_bytes_per_cycle");
  const auto memory = row.at("memory").get<std::string>();
  return {number("cycles"),
          array,
          number("scratchpad_words") * array,
          number("accumulator_rows") * array,
          bytes == 0 ? array : std::min(bytes, array),
          memory == "exclusive" ? 0.0
          : memory == "shared"  ? 1.0
                                : 2.0,
          -number("memory_latency")};
}

/// Is `a` nowhere worse than `b`?
bool covers(const Costs& a, const Costs& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<bool> pareto_front(const std::vector<SweepRow>& rows) {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<Costs, std::size_t>>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].at("cycles").is_null() || has_failed(rows[i])) continue;
    groups[{rows[i].at("network").dump(), rows[i].at("batch").dump()}].emplace_back(
        costs_of(rows[i]), i);
  }
  std::vector<bool> front(rows.size(), false);
  for (auto& [group, designs] : groups) {
    // What covers a design stands before it then.
    std::sort(designs.begin(), designs.end());
    std::vector<Costs> best;
    for (const auto& [costs, row] : designs) {
      const bool covered = std::any_of(
          best.begin(), best.end(),
          [&costs = costs](const Costs& one) { return one != costs && covers(one, costs); });
      if (covered) continue;
      best.push_back(costs);
      front[row] = true;
    }
  }
  return front;
}

}  // namespace gemm64

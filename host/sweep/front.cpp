// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "host/device/dram_timing.hpp"
#include "host/sweep/selection.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// Of a design, less is better of each.
using Costs = std::vector<double>;

/// The values of the objectives, negated if more is better.
Costs costs_of(const SweepRow& row, const std::vector<std::string>& objectives) {
  Costs costs;
  for (const std::string& objective : objectives) {
    const double value = objective_value(row, objective);
    costs.push_back(larger_is_better(objective) ? -value : value);
  }
  return costs;
}

Costs costs_of(const SweepRow& row) {
  const auto number = [&row](const char* key) { return row.at(key).get<double>(); };
  const double array = number("array");
  const auto memory = row.at("memory").get<std::string>();
  const bool dram = is_dram_word(memory);
  const double bytes = number(dram ? "dram.peak_bytes_per_cycle" : "memory_bytes_per_cycle");
  return {number("cycles"),
          array,
          number("scratchpad_words") * array,
          number("accumulator_rows") * array,
          number("weight_tiles") * array * array,
          number("parameter_sets") * array,
          bytes == 0 ? array : std::min(bytes, array),
          memory == "exclusive"        ? 0.0
          : dram || memory == "shared" ? 1.0
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

double objective_value(const SweepRow& row, const std::string& objective) {
  const auto value = row.at(objective).get<double>();
  const bool whole_port = objective == "memory_bytes_per_cycle" && value == 0;
  return whole_port ? row.at("array").get<double>() : value;
}

std::vector<bool> pareto_front(const std::vector<SweepRow>& rows,
                               const std::vector<std::string>& objectives) {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<Costs, std::size_t>>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].at("cycles").is_null() || has_failed(rows[i])) continue;
    groups[{rows[i].at("network").dump(), rows[i].at("batch").dump()}].emplace_back(
        objectives.empty() ? costs_of(rows[i]) : costs_of(rows[i], objectives), i);
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

std::vector<SweepRow> with_front(std::vector<SweepRow> rows,
                                 const std::vector<std::string>& objectives) {
  for (const std::string& objective : objectives) {
    check_column(rows, "--objectives", objective);
    for (const SweepRow& row : rows) {
      if (row.at(objective).is_number() || row.at(objective).is_null()) continue;
      throw UsageError(fmt::format("--objectives: column {} is not of numbers", objective));
    }
  }
  const std::vector<bool> front = pareto_front(rows, objectives);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i]["pareto"] = bool(front[i]);
  return rows;
}

}  // namespace gemm64

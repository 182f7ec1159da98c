// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/sweep_plot.hpp"

#include <algorithm>
#include <cstddef>

#include "host/sweep/front.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSizes[] = {"array", "scratchpad_words", "accumulator_rows",
                                  "memory_bytes_per_cycle"};
constexpr const char* kFigures[] = {
    "cycles", "predicted_cycles", "utilization",       "roofline_utilization", "main_wait",
    "bytes",  "bytes.weights",    "bytes.activations", "bytes.results",        "macs",
    "error",  "verified"};

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Json sweep_plot(const std::vector<SweepRow>& rows, const std::string& file,
                std::vector<std::string> objectives) {
  std::vector<std::string> design;  // keys that differ between designs
  for (const std::string& key : rows.empty() ? design : varied_keys(rows)) {
    if (key != "network" && key != "batch") design.push_back(key);
  }
  objectives.resize(std::min<std::size_t>(objectives.size(), 2));
  if (objectives.empty()) objectives.emplace_back("cycles");
  for (const char* size : kSizes) {
    if (objectives.size() == 1 && holds(design, size)) objectives.emplace_back(size);
  }
  const bool drawn = objectives.size() == 2 && !design.empty();
  const std::vector<bool> front =
      drawn ? pareto_front(rows, objectives) : std::vector<bool>(rows.size(), false);

  std::vector<std::string> columns{"point", "network", "batch"};
  columns.insert(columns.end(), design.begin(), design.end());
  columns.insert(columns.end(), std::begin(kFigures), std::end(kFigures));
  Json values = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json row = Json::array();
    for (const std::string& name : columns) row.push_back(rows[i].at(name));
    const bool timed = drawn && !rows[i]["cycles"].is_null();
    for (const std::size_t axis : {1, 0}) {
      row.push_back(timed ? Json(objective_value(rows[i], objectives[axis])) : Json());
    }
    row.push_back(bool(front[i]));
    values.push_back(std::move(row));
  }
  for (const char* name : {"x", "y", "front"}) columns.emplace_back(name);
  return {{"file", file},       {"verdict", rows_verdict(rows)},
          {"design", design},   {"axes", objectives},
          {"columns", columns}, {"rows", values}};
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A report as a table, and two reports compared.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gemm64 {

/// Layers of `a` and `b` that belong together: by name, and by their order among those of one name.
/// -1 where one has no such layer; in the order of `a`, then what only `b` has.
std::vector<std::pair<int, int>> pair_layers(const nlohmann::ordered_json& a,
                                             const nlohmann::ordered_json& b);

/// What the two have in common, and what not: `layers` with cycles in both (`name`, `places` in the
/// lists of layers, `sizes`, `cycles`, `bytes`: of A and of B), `both` their sums (`cycles`,
/// `bytes`, `utilization`), and `only`: of A and of B, the layers with cycles only there (`name`,
/// `cycles`, `there`: why the other has none). Terminal and page show these figures.
nlohmann::ordered_json compare(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

/// Cycles, bytes and causes of both as tables, at most `width` characters wide (0: no limit):
/// settings that differ, layers with their differences, those that only one has, and counters that
/// differ.
std::string comparison_tables(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b,
                              std::size_t width);

/// A report as a table, at most `width` characters wide (0: no limit): each layer with cycles, and
/// their sums. What is no number in the report is "-".
std::string report_summary(const nlohmann::ordered_json& report, std::size_t width);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Two reports side by side.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gemm64 {

/// Layers of `a` and `b` that belong together: by name, and by their order among those of one name.
/// -1 where one has no such layer; in the order of `a`, then what `b` alone has.
std::vector<std::pair<int, int>> pair_layers(const nlohmann::ordered_json& a,
                                             const nlohmann::ordered_json& b);

/// Clocks, bytes and causes of both as tables, at most `width` characters wide (0: no limit):
/// settings that differ, layers with their differences, those that only one has, and counters that
/// differ.
std::string comparison_tables(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b,
                              std::size_t width);

}  // namespace gemm64

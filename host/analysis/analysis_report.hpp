// SPDX-License-Identifier: Apache-2.0
// An analysis for people (tables) and for programs (JSON).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/analysis/analysis.hpp"
#include "host/report/energy_use.hpp"

namespace gemm64 {

/// Totals, kinds of operators, and a row for each of `layers`, at most `width` characters wide
/// where columns allow (0: no limit). `columns`: as of table_columns(); "all" adds attributes.
std::string analysis_tables(const Analysis& analysis, const std::vector<std::size_t>& layers,
                            const std::string& columns, std::size_t width);

/// Returns the energy of the network's programs; nothing if there are none.
std::optional<EnergyUse> energy_of(const Analysis& analysis);

/// Everything: totals, kinds, and all layers in the order in which they run.
nlohmann::ordered_json to_json(const Analysis& analysis);

}  // namespace gemm64

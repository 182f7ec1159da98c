// SPDX-License-Identifier: Apache-2.0
// A sweep as the data of the report's page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/sweep/row.hpp"

namespace gemm64 {

/// Returns what PageContent::sweep holds: the rows' columns that are drawn, and the points of two
/// objectives with their Pareto front.
///
/// `objectives`: columns of numbers for the vertical and the horizontal axis. Those that are
/// missing are "cycles" and the size of a design that differs: array, buffers, or bytes per cycle.
/// Without a second one no points are drawn.
nlohmann::ordered_json sweep_plot(const std::vector<SweepRow>& rows, const std::string& file,
                                  std::vector<std::string> objectives = {});

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A point's figures by name: one flat object, from which tables, CSV, JSON and plots are made.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/runtime/run_report.hpp"
#include "host/sweep/sweep.hpp"

namespace gemm64 {

/// Names are those of a report's total; null where there is no such figure. `verified` is so of
/// points that ran: what was not compared says nothing of it.
using SweepRow = nlohmann::ordered_json;

/// Of a report of the point, run or predicted.
SweepRow make_row(const Sweep& sweep, std::size_t index, const RunReport& report);

/// Did the point run, and did something not hold?
bool has_failed(const SweepRow& row);

/// A line of names, and one for each row.
std::string rows_csv(const std::vector<SweepRow>& rows);
/// The file of --json.
std::string rows_json(const std::vector<SweepRow>& rows);
/// A table for people, at most `width` characters wide where columns allow; 0: no limit. `keys` are
/// the columns that name a point.
std::string rows_table(const std::vector<SweepRow>& rows, std::size_t width,
                       const std::vector<std::string>& keys);

/// What the rows say together, in a line.
std::string rows_verdict(const std::vector<SweepRow>& rows);

/// The keys of a point whose values are not the same in all rows.
std::vector<std::string> varied_keys(const std::vector<SweepRow>& rows);

}  // namespace gemm64

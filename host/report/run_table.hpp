// SPDX-License-Identifier: Apache-2.0
// A run's report for people.
#pragma once

#include <string>

#include "host/report/report_view.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// Returns the table, a row per layer and the total, and the notes below it. By default it is at
/// most 100 columns wide.
std::string run_details(const RunReport& report, const ReportView& view);

/// Returns each engine's cycles by cause, in all layers.
std::string engine_table(const RunReport& report, std::size_t width);

/// Throws UsageError if `columns`, as in ReportView, names one that the table does not have.
void check_columns(const std::string& columns);

/// Returns the keys of all columns, with commas.
std::string run_column_keys();

}  // namespace gemm64

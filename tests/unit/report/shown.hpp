// SPDX-License-Identifier: Apache-2.0
// All that a report shows.
#pragma once

#include "host/report/run_table.hpp"
#include "host/report/verdict.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// With all columns and explanations.
inline std::string shown(const RunReport& report) {
  ReportView view;
  view.columns = "all";
  view.explain = true;
  return run_details(report, view) + summary_line(report, std::nullopt);
}

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// How much of a run's report is shown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace gemm64 {

struct ReportView {
  std::size_t width = 0;          // of the terminal; 0: there is none
  std::string columns;            // of the table: "all", or keys with commas; empty: the usual ones
  bool explain = false;           // also what is the same in most runs, in sentences
  bool quiet = false;             // only the summary, and what did not hold
  std::optional<double> seconds;  // of wall time, for the summary
};

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A run's report for people.
#pragma once

#include <string>

#include "host/run/run_report.hpp"

namespace gemm64 {

/// One table, a row a layer and the total, and a plain verdict below it. `width` as Table::render.
std::string run_table(const RunReport& report, std::size_t width);

/// Each engine's clocks by cause, in all layers.
std::string engine_table(const RunReport& report, std::size_t width);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What it costs if the host adds the partial sums.
#pragma once

#include <cstddef>
#include <string>

#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// Cycles and bytes of results, added on the device and on the host; empty where the
/// device adds them, or counts no cycles.
std::string price_table(const RunReport& report, std::size_t width);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What of a run held, and what did not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// Returns a line for each difference and each fault that was found. `explain`: also what was
/// compared with what.
std::string check_details(const RunReport& report, bool explain);

/// Returns the run in a line: "918,165 cycles, 99.8 % of the MACs, 57.6 MiB, 588,288 results equal:
/// VERIFIED in 8.2 s". Its one verdict is VERIFIED, FAILED or NOT CHECKED; a network without a
/// layer on the device has none.
std::string summary_line(const RunReport& report, std::optional<double> seconds);

/// Returns the bytes over all ports.
std::uint64_t all_bytes(const LayerReport& layer);

/// "57.6 MiB".
std::string short_bytes(std::uint64_t count);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Reports as JSON. Names are part of the program's interface.
#pragma once

#include <nlohmann/json.hpp>

#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// "int8" or "float32": what the report's layers were computed in.
const char* precision_of(const RunReport& report);

/// What reports call their format: raised where a name changes its meaning.
inline constexpr int kReportFormat = 1;

nlohmann::ordered_json to_json(const RunReport& report);
nlohmann::ordered_json to_json(const Failure& failure);
/// The host's nodes between programs, why the device does not have them, and which programs begin
/// after them.
nlohmann::ordered_json between_json(const std::vector<HostLayer>& between);
/// What a chip of n columns would wait for nodes between programs.
nlohmann::ordered_json waits_json(const std::vector<HostLayer>& between, std::uint32_t n);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A report that --json wrote, read back and not believed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace gemm64 {

/// The report in this file ("-": standard input). Throws UsageError, which names the file and what
/// is wrong with it: no JSON, no report of gemm64, one of another format, or fields that are not of
/// their kind.
nlohmann::ordered_json read_report(const std::string& path);

/// What `run`, `gemm` and `analyze` write differs: is it a report of analyze?
bool is_analysis(const nlohmann::ordered_json& report);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// A campaign of broken programs, as text and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "host/faults/broken_campaign.hpp"

namespace gemm64 {

/// "gemm64 faults --kind broken-programs --array 8 --seed 1 --first 37 --count 1".
std::string command_of(const BrokenReport& report, const TriedProgram& tried);

/// A row for each kind of program; then the command that repeats each one that must not be, and
/// where there was a single try, what was broken and how it ended.
std::string broken_table(const BrokenReport& report, std::size_t width = 0);
/// What was found so far, in a line.
std::string broken_line(const BrokenReport& report);
nlohmann::ordered_json to_json(const BrokenReport& report);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Sweeps point by point, to be spread over processes.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gemm64::python {

/// What names each point of a sweep, in order. Throws UsageError as the program's `sweep` does.
nlohmann::ordered_json sweep_points(const std::string& text);

/// The row of one point. What it takes to make, such as networks, is kept for the next point of the
/// same sweep. Throws UsageError as above, or where there is no such point.
nlohmann::ordered_json sweep_row(const std::string& text, std::size_t index);

/// About what each point takes, in any unit. Throws UsageError as above.
std::vector<double> sweep_costs(const std::string& text);

}  // namespace gemm64::python

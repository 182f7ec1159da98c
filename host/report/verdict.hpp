// SPDX-License-Identifier: Apache-2.0
// Whether everything that was checked held, and what did not.
#pragma once

#include <string>

#include "host/run/run_report.hpp"

namespace gemm64 {

/// One line for each mismatch, exceeded bound, unexpected counter and unmet request, the second
/// look at a failure, and last a line that begins with VERIFIED, FAILED or NOT CHECKED and tells
/// what was compared with what, or says that nothing was verified.
std::string verdict(const RunReport& report);

}  // namespace gemm64

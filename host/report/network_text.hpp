// SPDX-License-Identifier: Apache-2.0
// What a report says of a network as a whole.
#pragma once

#include <string>

#include "host/run/run_report.hpp"

namespace gemm64 {

/// How much of the network ran where, and why not all of it on the device; empty for a product.
std::string host_text(const RunReport& report);

/// How close the quantized network is to the float32 one; empty where that is not known.
std::string quality_text(const RunReport& report);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The ranges of a network's values: measured by host/runtime, used by host/graph/passes.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace gemm64 {

/// The least and the greatest number that a value of the network took, by its name.
using Ranges = std::map<std::string, std::pair<float, float>>;

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Modules of a network as the names of its nodes tell of them.
#pragma once

#include <optional>

#include "host/analysis/analysis.hpp"

namespace gemm64 {

/// Exporters call a node "/features/features.0/Conv" when the module `features.0` inside of
/// `features` made it. A module's output is what other modules read of what its nodes make. Empty
/// where nodes are not named so. Throws std::overflow_error if a sum is beyond 63 bits.
std::optional<ModuleActivations> module_activations(const OnnxModel& model);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// The plug-in's records of a network's modules, as JSON.
#pragma once

#include <string>
#include <vector>

#include "host/analysis/module_outputs.hpp"

namespace gemm64 {

/// Reads {"modules": [{"name", "kind", "container", "parameters", "parameter_bytes",
/// "weight_bytes", "macs", "calls", "output_bytes", "outputs": ["1x64x55x55"]}, ...]}. Throws
/// UsageError if the text is something else.
std::vector<ModuleOutputs> read_module_records(const std::string& json);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Shapes of the inputs of a TorchScript file, which keeps none.
#pragma once

#include <string>
#include <vector>

#include "host/torchscript/network_file.hpp"

namespace gemm64 {

/// `known` and, of inputs that it lacks, the shapes of their .npy files, one row of each. A text is
/// FILE, for the first input, or NAME=FILE. Throws UsageError if a file cannot be read.
InputShapes with_array_shapes(InputShapes known, const std::vector<std::string>& texts);

}  // namespace gemm64

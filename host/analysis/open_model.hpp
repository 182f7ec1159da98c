// SPDX-License-Identifier: Apache-2.0
// A model to be analyzed, whose shapes may stay open in part.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "host/runtime/batched_model.hpp"

namespace gemm64 {

/// Loads it by `import`. Where a first size that the file leaves open cannot be 1, it stays open,
/// and `import` says so. Throws UsageError where it cannot be read either way.
OnnxModel load_to_analyze(const ModelLoader& load, ImportOptions& import);

}  // namespace gemm64

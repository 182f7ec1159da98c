// SPDX-License-Identifier: Apache-2.0
// A shuffle of channels as one Gather.
//
//   before, x of [1, 6, 4, 4]:   Reshape [1, 2, 3, 4, 4] -> Transpose [0, 2, 1, 3, 4] -> Reshape
//   [1, 6, 4, 4] after:                       Gather <axis = 1> [0, 3, 1, 4, 2, 5]
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with such nodes joined if they move values of 8 bits, all sizes are known, and no
/// other node reads what is between them.
OnnxModel fuse_shuffles(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

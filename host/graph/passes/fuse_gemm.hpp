// SPDX-License-Identifier: Apache-2.0
// A product and its bias as one Gemm, which adds the bias before the first block of K.
//
//   before, x of [2, 16, 288]:   MatMul(x, weights) -> Add(bias)
//   after:                       Reshape [32, 288] -> Gemm(weights, bias) -> Reshape [2, 16, 64]
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with such nodes joined where ONNX Runtime does: of float32, where no other node reads
/// the product and the bias fits a Gemm; of more than two axes only where the file gives every size
/// of x.
OnnxModel fuse_gemms(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

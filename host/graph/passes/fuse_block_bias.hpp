// SPDX-License-Identifier: Apache-2.0
// A MatMulNBits and its bias as one node, which adds the bias before what zero points
// take away.
//
//   before:   MatMulNBits(x, weights, ...) -> Add(bias)
//   after:    MatMulNBits(x, weights, ..., bias)
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with such nodes joined where ONNX Runtime does: of float32, where no other node reads
/// the product, the bias is a constant with one number for each column, and no Gelu follows, which
/// takes the bias instead.
OnnxModel fuse_block_biases(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

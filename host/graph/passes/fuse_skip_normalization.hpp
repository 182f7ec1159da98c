// SPDX-License-Identifier: Apache-2.0
// The sum before a layer normalization, joined with it: its kernel takes values in order, and adds
// a bias last.
//
//   before: LayerNormalization(x + skip)           after: SkipLayerNormalization(x, skip)
//   before: LayerNormalization((x + bias) + skip)  after: SkipLayerNormalization(x, skip, bias)
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with such nodes joined where ONNX Runtime does: where no other node reads the sum, and
/// the file gives both of its operands the same three sizes. The bias is a constant vector.
OnnxModel fuse_skip_normalizations(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

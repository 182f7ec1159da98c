// SPDX-License-Identifier: Apache-2.0
// A product of computed operands with what only turns or scales it: one row times a turned matrix,
// and a product times a number, are kernels of their own.
//
//   MatMul(q, Transpose(k))                      FusedMatMul(q, k, transB)
//   MatMul(q * 0.35, k * 0.35) / 2               FusedMatMul(q, k, alpha = 0.06125)
#pragma once

#include "host/onnx/model.hpp"

namespace gemm64 {

/// The model with such nodes joined where ONNX Runtime does: Transposes that leave the axes of the
/// batch in order, and Mul and Div by a constant number, before and behind. Products with constant
/// weights stay: they are Linear layers, which run on the device.
OnnxModel with_joined_products(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

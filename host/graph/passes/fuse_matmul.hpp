// SPDX-License-Identifier: Apache-2.0
// A product of computed operands with what only turns or scales it: one row times a turned matrix,
// and a product times a number, are kernels of their own.
//
//   before: MatMul(q, Transpose(k))              after: FusedMatMul(q, k, transB)
//   before: MatMul(q * 0.5, k * 0.5) / 2         after: FusedMatMul(q, k, alpha = 0.125)
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with such nodes joined where ONNX Runtime does: Transposes that leave the axes of the
/// batch in order, and Mul and Div by a constant number, before and after. Products with constant
/// weights stay: they are Linear layers, which run on the device.
OnnxModel fuse_products(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

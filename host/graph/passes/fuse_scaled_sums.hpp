// SPDX-License-Identifier: Apache-2.0
// The sums of a MatMulInteger and the nodes that make floats of them as one node.
//
// Before: y = Mul(Cast(MatMulInteger(a, b, za, zb)), scale) + bias.
// After: y = MatMulIntegerToFloat(a, b, 1, scale, za, zb, bias).
// Conditions: nothing else reads the values between; one scale, or one for each column; the bias,
// if there is one, is a constant of a value for each column.
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

OnnxModel fuse_scaled_sums(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

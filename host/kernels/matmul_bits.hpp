// SPDX-License-Identifier: Apache-2.0
// What a MatMulNBits multiplies.
#pragma once

#include "host/proto/onnx.pb.h"

namespace gemm64 {

/// Does a MatMulNBits multiply integers: its weights, and its activations in steps of each block's
/// largest value / 127? That is where the file asks for no more (accuracy_level 4) and ONNX Runtime
/// does. `zero_points`: their type, 0 where there are none.
bool multiplies_integers(const onnx::NodeProto& matmul_n_bits, int zero_points);

}  // namespace gemm64

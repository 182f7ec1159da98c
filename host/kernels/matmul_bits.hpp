// SPDX-License-Identifier: Apache-2.0
// What a MatMulNBits multiplies.
#pragma once

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Does a MatMulNBits multiply integers: its weights, and its activations in steps of each block's
/// largest value / 127? That is where the file asks for no more (accuracy_level 4) and ONNX Runtime
/// does. `zero_points`: their type, 0 where there are none.
bool multiplies_integers(const onnx::NodeProto& matmul_n_bits, int zero_points);

/// Is it a MatMulNBits of 4 bits, whose blocks ONNX Runtime adds in float32? A device, which adds
/// exactly, computes other sums.
bool adds_in_lanes(const onnx::NodeProto& node);

}  // namespace gemm64

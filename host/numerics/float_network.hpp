// SPDX-License-Identifier: Apache-2.0
// The float32 network that the quantized one is measured against.
#pragma once

#include <vector>

#include "host/models/linear_layer.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// Runs `input` [batch x K of the first layer] through the chain of Linear layers in float32.
/// Returns the output [batch x N] of every layer, after its ReLU where it has one.
/// Throws std::invalid_argument, naming the layer, where shapes do not fit together.
std::vector<MatrixF> float_forward(const MatrixF& input, const std::vector<LinearLayer>& layers);

}  // namespace gemm64

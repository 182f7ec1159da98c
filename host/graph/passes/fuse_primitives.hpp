// SPDX-License-Identifier: Apache-2.0
// Functions that a file writes as primitive nodes, as the one node that ONNX Runtime makes of them
// at its default level before it runs them: the joined kernel rounds otherwise.
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with such nodes joined where nothing else reads the values between, over the last
/// axis:
///
/// SimplifiedLayerNormalization: x · (1 / √(mean(x²) + ε)) · scale, or x / √… · scale
///
/// LayerNormalization: (x - mean(x)) / √(mean((x - mean(x))²) + ε) · scale + bias
///
/// FastGelu: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
///
/// Gelu: x / 2 · (1 + erf(x / √2))
///
/// Div: x · (1 / y)
///
/// But for the last, none where x comes of a DequantizeLinear.
OnnxModel fuse_primitives(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

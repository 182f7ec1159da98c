// SPDX-License-Identifier: Apache-2.0
// Convolutions that take over the Pad before them.
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with each Pad that only a Conv or QLinearConv reads as part of its pads, where it
/// adds zeros (the zero point of a QLinearConv) around spatial axes, and how many is known before
/// the network runs. Nodes that computed nothing but that are taken out.
///
/// Before: y = Conv(Pad(x, [0, 0, 1, 1, 0, 0, 1, 1]), w). After: y = Conv<pads = [1, 1, 1, 1]>(x,
/// w).
OnnxModel fold_pads(OnnxModel model, const ImportOptions& import = {});

}  // namespace gemm64

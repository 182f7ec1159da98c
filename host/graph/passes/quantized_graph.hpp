// SPDX-License-Identifier: Apache-2.0
// Files in QDQ form: DequantizeLinear, a float operator and QuantizeLinear become one operator on
// integers, where ONNX Runtime fuses them, so that there is one way to compute them.
#pragma once

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// The model with every group that ONNX Runtime 1.31 fuses at its default level as the operator of
/// its QOperator form (int8 activations stay int8, as with session.qdqisint8allowed); all else as
/// it is, in float. A fused node bears the float operator's name, its output the QuantizeLinear's.
/// `import` is what the model was read with.
///
/// Before: q = QuantizeLinear(Conv(DequantizeLinear(x, s, z), DequantizeLinear(w, t, o)), u, p).
/// After: q = QLinearConv(x, s, z, w, t, o, u, p).
OnnxModel with_quantized_operators(OnnxModel model, const ImportOptions& import);

}  // namespace gemm64

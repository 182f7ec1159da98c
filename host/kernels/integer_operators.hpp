// SPDX-License-Identifier: Apache-2.0
// Operators on 8-bit values whose products are computed by NodeContext::product.
#pragma once

#include "host/kernels/operators.hpp"

namespace gemm64::host {

/// Each requires a tensor for each input: absent if the node leaves it out, missing at the end.
/// Returns one for each output; throws UsageError, whose message begins with the node's label, if
/// shapes, types or attributes do not fit.
using OperatorFunction = Tensors(const NodeContext&, const Tensors&);
OperatorFunction conv_integer, dynamic_quantize_matmul, matmul_integer, matmul_integer_to_float,
    matmul_n_bits, qgemm, qlinear_conv, qlinear_matmul;

}  // namespace gemm64::host

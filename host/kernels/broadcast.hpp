// SPDX-License-Identifier: Apache-2.0
// Broadcasting as in NumPy.
#pragma once

#include "host/kernels/tensor.hpp"

namespace gemm64 {

/// Sizes that `a` and `b` both broadcast to, in `result`. Returns whether there are any.
bool broadcast_dims(const Dims& a, const Dims& b, Dims& result);

/// Strides with which an array of `from` is seen as one of `to`, to which it is broadcast.
Dims broadcast_strides(const Dims& from, const Dims& to);

/// The tensor as one of `dims`, to which it broadcasts.
Tensor broadcast(const Tensor& tensor, const Dims& dims);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// ONNX's number types of 8 bits and less that C++ has none for.
#pragma once

#include <cstdint>

#include "host/kernels/tensor.hpp"

namespace gemm64 {

/// The value of the lowest bits of an 8-bit float, a FLOAT4E2M1, or an integer of 2 or 4 bits.
/// Exact in float32.
float decode_small(DataType type, std::uint8_t bits);

}  // namespace gemm64

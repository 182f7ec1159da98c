// SPDX-License-Identifier: Apache-2.0
// ONNX's number types of 8 bits and less that C++ has none for.
#pragma once

#include <cstdint>
#include <string>

#include "host/kernels/tensor.hpp"

namespace gemm64 {

/// Which way Cast rounds to FLOAT8E8M0, which holds powers of two alone.
enum class PowerRounding { kUp, kDown, kNearest };

struct SmallRounding {
  bool saturate = true;  // what is beyond an 8-bit float's range is its largest value
  PowerRounding power = PowerRounding::kUp;
};

/// Is `type` one of the 8-bit floats, FLOAT4E2M1, or an integer of 2 or 4 bits?
bool is_small_type(DataType type);

/// The value of such a type's lowest bits. Exact in float32.
float decode_small(DataType type, std::uint8_t bits);

/// The bits of the nearest value, ties to even; integers are cut off towards zero and keep their
/// lowest bits.
std::uint8_t encode_small(DataType type, double value, const SmallRounding& rounding);

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// What STORE makes of a sum where results have 8 bits.
#pragma once

#include <cstdint>

#include "host/device/command_types.hpp"

namespace gemm64 {

/// clamp(rint(float32(sum + bias) * scale) + ZERO, LOW, HIGH) of a STORE of an 8-bit format, as its
/// byte in memory. sum + bias wraps at 32 bits; its conversion, the float32 product and rint round
/// to nearest, ties to even, in the default rounding mode. The scale's sign is ignored; what is
/// infinite or NaN counts as the largest finite one.
std::uint8_t requantize(const StoreCommand& store, std::uint32_t sum, std::uint32_t bias,
                        float scale);

}  // namespace gemm64

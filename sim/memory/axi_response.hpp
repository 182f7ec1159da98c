// SPDX-License-Identifier: Apache-2.0
// AXI4's rresp and bresp, as far as this memory gives them.
#pragma once

#include <cstdint>

namespace gemm64 {

enum class AxiResponse : std::uint8_t { kOkay = 0, kSlaveError = 2, kDecodeError = 3 };

}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
// Force-included (-include) into the C++ that Verilator makes of the 64x64 model. Verilator 5.006
// extends a sign as x | -(x & sign bit), in which clang does not see a sign extension; the shift
// pair below it does, and turns each row's products into vector moves with extension. Same value
// for every lbits from 1 to 32. It more than doubles the array's speed. Comparisons of 32 bits
// extend to 32 bits instead of 64, so that a vector holds twice as many. A Verilator that extends
// in another way never uses the macros.
#pragma once

#include <verilated.h>

#define GEMM64_SIGNED(lbits, lhs) \
  (static_cast<int32_t>(static_cast<IData>(lhs) << (32 - (lbits))) >> (32 - (lbits)))

#define VL_EXTENDS_II(obits, lbits, lhs) (static_cast<IData>(GEMM64_SIGNED(lbits, lhs)))

#define VL_GTS_III(lbits, lhs, rhs) \
  (static_cast<IData>(GEMM64_SIGNED(lbits, lhs) > GEMM64_SIGNED(lbits, rhs)))
#define VL_GTES_III(lbits, lhs, rhs) \
  (static_cast<IData>(GEMM64_SIGNED(lbits, lhs) >= GEMM64_SIGNED(lbits, rhs)))
#define VL_LTS_III(lbits, lhs, rhs) \
  (static_cast<IData>(GEMM64_SIGNED(lbits, lhs) < GEMM64_SIGNED(lbits, rhs)))
#define VL_LTES_III(lbits, lhs, rhs) \
  (static_cast<IData>(GEMM64_SIGNED(lbits, lhs) <= GEMM64_SIGNED(lbits, rhs)))

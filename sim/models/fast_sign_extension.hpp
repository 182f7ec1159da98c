// SPDX-License-Identifier: Apache-2.0
// Force-included (-include) into the C++ that Verilator makes of the 64x64 model. Verilator 5.006
// extends a sign as x | -(x & sign bit), in which clang does not see a sign extension; the shift
// pair below it does, and turns each row's products into vector moves with extension. Same value
// for every lbits from 1 to 32. It more than doubles the array's speed. A Verilator that extends in
// another way never uses the macro.
#pragma once

#include <verilated.h>

#define VL_EXTENDS_II(obits, lbits, lhs)                                                 \
  (static_cast<IData>(static_cast<int32_t>(static_cast<IData>(lhs) << (32 - (lbits))) >> \
                      (32 - (lbits))))

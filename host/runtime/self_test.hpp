// SPDX-License-Identifier: Apache-2.0
// A product whose operands meet every bit of the array.
#pragma once

#include <cstdint>
#include <string>

#include "host/device/device.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/quality.hpp"

namespace gemm64 {

struct SelfTest {
  std::uint64_t sums = 0;    // that were compared with the reference
  Mismatches mismatches;     // of them
  std::uint64_t cycles = 0;  // the program's
  std::string error;         // that stopped it; empty: none

  bool passed() const { return error.empty() && mismatches.count == 0; }
};

/// Runs the product: each register of the array holds both values of each of its bits while a sum
/// depends on it, so that a bit which is stuck makes a sum wrong (tests/system/self_test_test.cpp
/// shows that of every one at N = 4).
SelfTest self_test(Device& device, Driver& driver);

/// "self-test PASSED: 1,024 sums equal the reference, in 2,517 cycles", or what is wrong.
std::string in_words(const SelfTest& test);

}  // namespace gemm64

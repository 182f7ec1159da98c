// SPDX-License-Identifier: Apache-2.0
// Which mutant of the RTL this process simulates: GEMM64_MUTANT, 0 for none.
#include <cstdlib>

extern "C" {
extern const unsigned gemm64_mutant;
const unsigned gemm64_mutant = [] {
  const char* const number = std::getenv("GEMM64_MUTANT");
  return number == nullptr ? 0u : static_cast<unsigned>(std::strtoul(number, nullptr, 10));
}();
}

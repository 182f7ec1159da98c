// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/mersenne_twister.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// The same numbers, taken a few at a time.
void expect_standard(std::mt19937 standard, MersenneTwister found) {
  std::size_t done = 0;
  for (std::size_t most = 1; done < 5000; most = most * 3 % 701 + 1) {
    const auto [numbers, count] = found.next(most);
    ASSERT_GE(count, 1U);
    ASSERT_LE(count, most);
    for (std::size_t i = 0; i < count; ++i, ++done) ASSERT_EQ(numbers[i], standard()) << done;
  }
}

TEST(MersenneTwister, GivesTheStandardsNumbers) {
  expect_standard(std::mt19937(), MersenneTwister());
  expect_standard(std::mt19937(7), MersenneTwister(7));
  std::seed_seq seeds{1, 2, 3};
  expect_standard(std::mt19937(seeds), MersenneTwister(seeds));
}

}  // namespace
}  // namespace gemm64

// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/shares.hpp"

#include "tests/test.hpp"

namespace gemm64::cycles {
namespace {

TEST(Shares, ProductIsExactAsFarAsAnyProgramRuns) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 48) - 1;
  EXPECT_EQ(product({}), 1u);
  EXPECT_EQ(product({3, 0, kMost}), 0u);
  EXPECT_EQ(product({kMost / 2, 2}), kMost - 1);
  EXPECT_EQ(product({kMost / 2 + 1, 2}), kMost) << "held at the most";
  EXPECT_EQ(product({kMost, kMost, kMost}), kMost);
}

}  // namespace
}  // namespace gemm64::cycles

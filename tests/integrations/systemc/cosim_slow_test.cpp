// SPDX-License-Identifier: Apache-2.0
// More random work, and some on the array of 64x64.
#include "tests/integrations/systemc/cosim.hpp"

namespace gemm64::cosim_test {
namespace {

TEST(CosimSlow, RandomWorkGivesTheSameOnAllSides) { run_random(6000, 240, {2, 4, 8}, 40); }

TEST(CosimSlow, RandomWorkIsSameOnAllSidesAtN64) { run_random(7000, 6, {64}, 200); }

}  // namespace
}  // namespace gemm64::cosim_test

// SPDX-License-Identifier: Apache-2.0
#include "host/dut/mutants.hpp"

#include <set>

#include "tests/dut/checked_array.hpp"

namespace gemm64::dut {
namespace {

BuildOptions options() {
  BuildOptions build;
  build.cache = GEMM64_DUT_CACHE;
  return build;
}

/// Measured: 90 % of 100; the rest are bits that never differ from their constant.
TEST(DutMutants, MostAreNoticedAndPlaced) {
  const EditedTemplate array("weight-stationary", {});
  const MutationResult result =
      run_mutants(read_description(array.file()), options(), 30, 1, [](double) {});
  ASSERT_EQ(result.mutants.size(), 30U);
  EXPECT_GE(result.killed(), 24U);
  std::uint64_t sum = 0;
  for (const auto& [rule, count] : result.by_rule()) sum += count;
  EXPECT_EQ(sum, result.killed());
  for (const Mutant& mutant : result.mutants) {
    EXPECT_NE(mutant.source.find(".v:"), std::string::npos) << mutant.source;
  }
}

TEST(DutMutants, DesignThatFailsWithoutOneIsRefused) {
  const EditedTemplate array("weight-stationary",
                             {{"wrapper.v", "= last_q[LATENCY-1];", "= last_q[LATENCY-2];"}});
  EXPECT_THROW(run_mutants(read_description(array.file()), options(), 2, 1, [](double) {}),
               UsageError);
}

/// Packages and unpacked arrays: slang reads what Yosys's own reader refuses.
TEST(DutMutants, SystemVerilogIsMutated) {
  const Description description =
      read_description(std::filesystem::path(GEMM64_DUT_TEST_DATA) / "unpacked_rows.toml");
  const MutationResult result = run_mutants(description, options(), 4, 1, [](double) {});
  EXPECT_EQ(result.mutants.size(), 4U);
}

}  // namespace
}  // namespace gemm64::dut

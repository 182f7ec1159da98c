// SPDX-License-Identifier: Apache-2.0
#include "host/dut/mutants.hpp"

#include "tests/dut/checked_array.hpp"
#include "tests/test.hpp"

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

/// The Yosys with slang has a /tmp of its own, in which such a folder is not.
TEST(DutMutants, SystemVerilogIsMutatedInTmp) {
  const std::string port = "    input  wire            s_axis_weights_tlast,\n";
  const EditedTemplate array(
      "weight-stationary",
      {{"wrapper.v", port, port + "    input  logic [1:0][3:0] s_axis_weights_tuser,\n"}});
  const MutationResult result =
      run_mutants(read_description(array.file()), options(), 4, 1, [](double) {});
  EXPECT_EQ(result.mutants.size(), 4U);
}

/// A mutant within a cell is placed in the cell's file, not where that is an instance.
TEST(DutMutants, ArePlacedInTheirOwnFile) {
  const EditedTemplate array("output-stationary", {});
  const MutationResult result =
      run_mutants(read_description(array.file()), options(), 40, 1, [](double) {});
  std::set<std::string> files;
  for (const Mutant& mutant : result.mutants) {
    files.insert(mutant.source.substr(0, mutant.source.find(':')));
    EXPECT_EQ(mutant.change.find('$'), std::string::npos) << mutant.change;
  }
  EXPECT_TRUE(files.count("pe.v") == 1) << testing::PrintToString(files);
}

}  // namespace
}  // namespace gemm64::dut
